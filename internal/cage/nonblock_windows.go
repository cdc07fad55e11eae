package cage

const nonblock = 0

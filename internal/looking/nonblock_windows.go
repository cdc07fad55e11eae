package looking

const nonblock = 0

package outputs

// GiveUp has o in an encoding count as not worth it.
func GiveUp(o *Output, e Encoding) { o.forms[e].tried = true }

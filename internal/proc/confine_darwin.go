package proc

import "os"

func confineHelper([]string, *os.ProcAttr) ([]string, *passage, error) {
	return nil, nil, errNotLinux
}

// passage is what no tree has here.
type passage struct{}

func (*passage) started() {}

func (*passage) close() {}

// opening and answer are what no order is about here.
type (
	opening struct{}
	answer  struct{}
)

// confined is what no helper makes here.
type confined struct{}

func enter(*Confinement) (*confined, error) { return nil, errNotLinux }

func takeUser(string, string) error { return errNotLinux }

func (*confined) start(request) (int, error) { return 0, errNotLinux }

func (*confined) turn(order) answer { return answer{} }

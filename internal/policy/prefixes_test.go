package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// project is a folder that has what the commands of the tables name.
func project(t *testing.T) string {
	t.Helper()
	ws := lay(t, "src/a.test.js", "src/evil.sh", "tests/test_a.py", "args.txt", "rm", "list.txt",
		"bare/")
	for name, text := range map[string]string{
		"package.json":     `{"scripts":{"test":"jest","build":"tsc","test:unit":"jest unit","with-env":"dotenv --","empty":""}}`,
		"sub/package.json": `{"Scripts":{"test":"jest"},"bin":{"build":"x"}}`,
	} {
		full := filepath.Join(ws, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return ws
}

// Each tool that may be granted by how a command begins: what people run stays covered,
// and what its manual has to write a file, to start a program, to read a file of
// arguments or other settings does not. Tools that are never granted so have no cover.
var tools = []struct {
	tool   string
	covers []string // by a prefix that is words of the command
	traps  []string
}{
	{"go test", []string{"go test ./...", "go test -run 'TestA|TestB' -count=1 -v ./src",
		"go test --race ./src"}, []string{
		"go test -exec ./src/evil.sh ./...", "go test -toolexec=src/evil.sh",
		"go test -vettool=src/evil.sh", "go test -o x.test", "go test -c", "go test -overlay=src/o.json",
		"go test -C sub", "go test -modfile=x.mod", "go test -coverprofile=c.out",
		"go test -cpuprofile=c.out", "go test -trace=t.out", "go test -outputdir=src", "go test -fuzz=F",
		"go test -ldflags=-extld=src/evil.sh", "go test -gcflags=-o=x", "go test -pkgdir=src",
		"go test -mod=mod", "go test -args -test.coverprofile=x", "go test -test.coverprofile=x",
		"go test ./... -- -exec", "go test evil.example/x@latest", "go test @args.txt"}},
	{"go vet", []string{"go vet ./...", "go vet -tags=a ./src"},
		[]string{"go vet -vettool=src/evil.sh ./...", "go vet -toolexec=src/evil.sh", "go vet -fix ./...",
			"go vet -C sub", "go vet -overlay=o.json", "go vet @args.txt"}},
	{"go", []string{"go build ./...", "go build -v -race ./src", "go build -tags=a ./src"},
		[]string{"go build -o x ./src", "go build -o=src/evil.sh", "go build -toolexec=src/evil.sh ./...",
			"go build -toolexec src/evil.sh", "go build -exec src/evil.sh",
			"go build -C sub", "go build -modfile=x.mod", "go build -mod=mod",
			"go build -overlay=src/o.json", "go build -pkgdir=src", "go build -ldflags=-extld=src/evil.sh",
			"go build -gcflags=-o=x", "go build -asmflags=x", "go build -gccgoflags=x",
			"go build -compiler=gccgo", "go build -pgo=x", "go build -work", "go build -installsuffix=x",
			"go build -buildmode=plugin", "go build -linkshared", "go build -modcacherw",
			"go build x@latest", "go build @args.txt", "go build /etc", "go build ../x", "go build -- x"}},
	{"go", []string{"go list -m -u all", "go list -export ./..."},
		[]string{"go list -f '{{.Dir}}' ./...", "go list -toolexec=src/evil.sh ./...",
			"go list -m x@latest", "go list -C sub", "go list -modfile=x.mod", "go list -mod=mod",
			"go list -overlay=o.json"}},
	{"go", []string{"go mod why -m x"}, []string{"go mod why -modfile=x", "go mod why x@v1"}},
	{"go", []string{"go mod graph"}, []string{"go mod graph -C sub", "go mod graph -x"}},
	{"go", nil, []string{"go run ./src", "go generate ./...", "go install x", "go tool x", "go get x",
		"go env -w X=1", "go mod tidy", "go mod edit -replace=a=b", "go mod init x", "go mod vendor",
		"go mod download", "go mod", "go work use /", "go fix", "go fmt", "go clean -modcache", "go bug",
		"go telemetry on", "go -C .. test", "go -C sub build ./..."}},

	{"pytest", []string{"pytest", "pytest -k name tests/", "pytest -vx --lf tests/test_a.py::test_b",
		"pytest -q --tb=short -m 'not slow'", "pytest --maxfail=1 --durations=5"}, []string{
		"pytest @args.txt", "pytest -q @args.txt", "pytest -k=@args.txt", "pytest -p evil",
		"pytest -pevil", "pytest -c src/x.ini", "pytest --config-file=x.ini", "pytest --rootdir=src",
		"pytest --override-ini=cache_dir=src", "pytest -o cache_dir=src", "pytest --junitxml=x.xml",
		"pytest --junit-xml x", "pytest --basetemp=src", "pytest --basetemp src",
		"pytest --confcutdir=src",
		"pytest --import-mode=x", "pytest --pyargs os", "pytest --log-file=x", "pytest --pastebin=all",
		"pytest --pdbcls=a:b", "pytest --cov-report=html:src", "pytest --debug=x",
		"pytest --cache-clear", "pytest -n 4", "pytest --lf -- --basetemp=src", "pytest -- @args.txt",
		"pytest -", "pytest -co", "pytest -lf"}},
	{"unittest, tox, nox", nil, []string{"python -m pytest", "python3 -m unittest", "tox",
		"tox -c src/tox.ini", "tox -e py -- rm", "tox --workdir src", "nox", "nox -f src/noxfile.py",
		"nox -s x -- rm"}},
	{"ruff, mypy, black", nil, []string{"ruff check", "ruff check --config x", "ruff check --fix",
		"ruff format", "ruff check --output-file=x", "mypy @args.txt", "mypy --config-file=x",
		"mypy --python-executable=src/evil.sh", "black ."}},

	{"npm test", []string{"npm test", "npm test -s", "npm test --silent", "npm test src/a.test.js",
		"npm test ./src"}, []string{
		"npm test -- --globalSetup=./src/evil.sh", "npm test -- src/a.test.js",
		"npm test --script-shell=src/evil.sh", "npm test --prefix sub", "npm test --workspace=sub",
		"npm test -w sub",
		"npm test --userconfig=args.txt", "npm test --globalconfig=args.txt",
		"npm test --node-options=--require=./src/a.test.js", "npm test --ignore-scripts",
		"npm test --loglevel=silly",
		"npm test rm", "npm test rm src/a.test.js", "npm test src/none", "npm test 'src/a.test.js; rm'",
		"npm test @args.txt", "npm test -"}},
	{"npm run build", []string{"npm run build", "npm run build --silent",
		"npm run build --if-present"}, []string{
		"npm run build -- --watch", "npm run build -s5", "npm run build src/evil.sh",
		"npm run build rm src/a.test.js", "npm run build --script-shell=src/evil.sh"}},
	{"npm run with-env", []string{"npm run with-env"},
		[]string{"npm run with-env -- sh", "npm run with-env rm", "npm run with-env src/evil.sh"}},
	{"npm run test:unit", []string{"npm run test:unit"}, []string{"npm run test:unit -- -u"}},
	{"npm", nil, []string{"npm run none", "npm run empty", "npm run env", "npm run toString",
		"npm run __proto__", "npm run", "npm run -s build", "npm run -- build", "npm run-script build",
		"npm exec jest", "npm exec -c 'rm x'",
		"npm x jest", "npm t", "npm start", "npm install", "npm ci", "npm explore x rm",
		"npm --prefix sub test", "npx jest", "npx -p x y", "npx -c rm"}},
	{"pnpm test", []string{"pnpm test", "pnpm test src/a.test.js"},
		[]string{"pnpm test --silent", "pnpm test -u", "pnpm test -- -u", "pnpm test rm",
			"pnpm test @args.txt", "pnpm test --globalSetup=./src/evil.sh"}},
	{"pnpm run build", []string{"pnpm run build"},
		[]string{"pnpm run build --silent", "pnpm run build -c rm", "pnpm run build rm"}},
	{"pnpm", nil, []string{"pnpm run none", "pnpm run cross-env", "pnpm run /test/", "pnpm exec rm",
		"pnpm dlx rm", "pnpm -C sub test", "pnpm -r test", "pnpm build", "pnpx x"}},
	{"yarn test", []string{"yarn test", "yarn test src/a.test.js"},
		[]string{"yarn test -s", "yarn test -u", "yarn test -- -u", "yarn test rm",
			"yarn test --config=./src/evil.sh", "yarn test @args.txt"}},
	{"yarn run build", []string{"yarn run build"},
		[]string{"yarn run build --silent", "yarn run build -5", "yarn run build sh -c x",
			"yarn run build src/evil.sh"}},
	{"yarn", nil, []string{"yarn run cross-env -- sh -c 'rm x'", "yarn run cross-env sh ./src/evil.sh",
		"yarn run cross-env", "yarn run env", "yarn run none", "yarn run -B build", "yarn run -T build",
		"yarn exec rm", "yarn dlx rm", "yarn node x", "yarn build", "yarn --cwd sub test"}},
	{"bun test", []string{"bun test", "bun test src/a.test.js", "bun test -t name --bail"}, []string{
		"bun test --preload ./src/evil.sh", "bun test -r ./src/evil.sh",
		"bun test --require=./src/evil.sh", "bun test --import=./src/evil.sh", "bun test -c x.toml",
		"bun test --config=x.toml", "bun test --cwd=sub", "bun test --env-file=x",
		"bun test --coverage-dir=src", "bun test --reporter-outfile=x", "bun test -u",
		"bun test --update-snapshots", "bun test --define a:b", "bun test -- x", "bun test @args.txt"}},
	{"bun", nil, []string{"bun run build", "bun x jest", "bunx jest", "bun src/evil.sh",
		"bun build src"}},
	{"jest, vitest, mocha", nil, []string{"jest", "jest --config=x",
		"jest --globalSetup=./src/evil.sh", "jest --rootDir=/", "jest --outputFile=x", "jest -u",
		"vitest", "vitest run", "vitest --config x", "vitest --globalSetup x",
		"mocha", "mocha -r ./src/evil.sh", "mocha --require ./src/evil.sh", "mocha --file ./src/evil.sh",
		"mocha --config x", "playwright test", "cypress run"}},
	{"eslint, tsc, prettier, deno, node", nil, []string{"eslint src", "eslint --config x src",
		"eslint --resolve-plugins-relative-to=src", "eslint --rulesdir=src", "eslint --fix src",
		"eslint -o x src", "tsc", "tsc -p src", "tsc --outDir src", "tsc @args.txt",
		"prettier --write src", "prettier --plugin=./src/evil.sh", "deno test", "deno test -A",
		"deno task build", "deno run x", "node --test", "node --run build"}},

	{"cargo test", []string{"cargo test", "cargo test name", "cargo test -p a --lib -j4",
		"cargo test --workspace --no-fail-fast", "cargo test --features a,b -q"}, []string{
		"cargo test --config build.rustc-wrapper=x", "cargo test --config evil.toml",
		"cargo test --target-dir src", "cargo test --manifest-path sub/Cargo.toml", "cargo test -C sub",
		"cargo test -Zunstable-options", "cargo test -Z unstable-options",
		"cargo test --profile x", "cargo test --artifact-dir=src", "cargo test --lockfile-path=x",
		"cargo test --timings", "cargo test --message-format=json", "cargo test --target=x.json",
		"cargo test -- --nocapture", "cargo test -- --logfile=x", "cargo test @args.txt",
		"cargo +nightly test", "cargo test -release"}},
	{"cargo check", []string{"cargo check --all-targets"},
		[]string{"cargo check --config x", "cargo check -- x"}},
	{"cargo build", []string{"cargo build --release", "cargo build -r"},
		[]string{"cargo build --config x", "cargo build --out-dir src", "cargo build --build-plan",
			"cargo build --target-dir=src"}},
	{"cargo clippy", []string{"cargo clippy --all-features"},
		[]string{"cargo clippy -- -D warnings", "cargo clippy -- -o x", "cargo clippy --fix",
			"cargo clippy --allow-dirty"}},
	{"cargo", nil, []string{"cargo run", "cargo run --bin x", "cargo r", "cargo t", "cargo b",
		"cargo bench", "cargo install x", "cargo fix", "cargo rustc -- -o x", "cargo nextest run",
		"cargo xtask", "cargo alias", "cargo --config x test", "cargo -C sub test", "cargo fmt"}},

	{"dotnet test", []string{"dotnet test", "dotnet test src -c Release --no-build",
		"dotnet test --filter 'FullyQualifiedName~A' -v q", "dotnet test --list-tests"}, []string{
		"dotnet test --settings x.runsettings", "dotnet test -s x", "dotnet test -o src",
		"dotnet test --output=src", "dotnet test --results-directory src", "dotnet test -r src",
		"dotnet test -l trx", "dotnet test --logger 'trx;LogFileName=x'",
		"dotnet test -d log.txt", "dotnet test --diag=log.txt", "dotnet test --test-adapter-path src",
		"dotnet test --collect x", "dotnet test --blame", "dotnet test -e A=b",
		"dotnet test --environment A=b", "dotnet test --artifacts-path=src",
		"dotnet test -p:OutDir=src", "dotnet test -p:CustomBeforeMicrosoftCommonTargets=src/x",
		"dotnet test --property:OutDir=src", "dotnet test /p:OutDir=src", "dotnet test -t:Clean",
		"dotnet test -bl", "dotnet test -c 'Release;OutDir=src'",
		"dotnet test -c Release%3bOutDir=src", "dotnet test src -c ../x", "dotnet test @args.txt",
		"dotnet test -- RunConfiguration.ResultsDirectory=src"}},
	{"dotnet", nil, []string{"dotnet run", "dotnet run --project src", "dotnet exec x.dll",
		"dotnet x.dll", "dotnet build", "dotnet msbuild", "dotnet tool run x", "dotnet watch test",
		"dotnet fsi x", "dotnet vstest x.dll", "dotnet format"}},
	{"mix test", []string{"mix test", "mix test tests/a.exs:12", "mix test --only slow --seed 0",
		"mix test --failed --trace"}, []string{
		"mix test --formatter Evil", "mix test --require ./src/evil.sh", "mix test -r src/evil.sh",
		"mix test --cover", "mix test --export-coverage x", "mix test --no-start",
		"mix test --profile-require time", "mix test --import-deps x", "mix test -- x",
		"mix test @args.txt"}},
	{"mix", nil, []string{"mix run", "mix do test + cmd rm", "mix cmd rm", "mix eval x",
		"mix deps.get", "mix format"}},
	{"swift test", []string{"swift test", "swift test --filter A --parallel", "swift test -v"},
		[]string{
			"swift test --package-path sub", "swift test -C sub", "swift test --chdir sub",
			"swift test --scratch-path src", "swift test --build-path src", "swift test --cache-path src",
			"swift test --config-path src", "swift test --xunit-output x",
			"swift test -Xswiftc -o", "swift test -Xlinker x", "swift test --toolset x.json",
			"swift test --disable-sandbox", "swift test --sdk src", "swift test @args.txt",
			"swift test -- x"}},
	{"swift", nil, []string{"swift run", "swift build", "swift package plugin x", "swift x.swift"}},

	{"make, ninja, just, task, rake", nil, []string{"make", "make test", "make -f x", "make -C sub",
		"make --eval=x", "make test SHELL=./src/evil.sh", "make -Isrc", "gmake test", "ninja",
		"ninja -C src", "ninja -f x", "just test", "just -f x", "task test", "rake", "rake test",
		"rake -f x", "rake -r x", "rake -e x"}},
	{"gradle, mvn, ant, bazel, sbt", nil, []string{"gradle test", "./gradlew test",
		"gradle -I x.gradle", "gradle --init-script x", "gradle -Dx=y", "gradle -p sub", "gradle -b x",
		"gradle -g src", "mvn test", "mvn -f sub", "mvn -Dmaven.ext.class.path=x test", "mvn -s x",
		"./mvnw test",
		"ant test", "bazel test //...", "bazel test --run_under=./src/evil.sh //x",
		"bazel --bazelrc=x test //x", "bazel run //x", "sbt test"}},
	{"ctest, cmake, meson", nil, []string{"ctest", "ctest -S x.cmake", "ctest --build-and-test src x",
		"ctest --output-log x", "ctest -T Test", "cmake --build src", "cmake -P x.cmake", "meson test",
		"meson test --wrapper x"}},
	{"rspec, phpunit, perl, lua", nil, []string{"rspec", "rspec -r ./src/evil.sh", "rspec -O args.txt",
		"rspec -o x", "rspec -f ./x", "rspec -I src", "phpunit", "phpunit --bootstrap src/x.php",
		"phpunit -c x.xml", "phpunit --log-junit x", "phpunit -d a=b",
		"prove", "prove -e ./src/evil.sh", "prove --rc x", "composer test", "busted",
		"bundle exec rspec"}},
	{"flutter, dart, zig, cabal", nil, []string{"dart test", "dart test --configuration=x",
		"flutter test", "zig build test", "zig test x.zig", "cabal test", "stack test", "dune test",
		"lein test"}},
}

// THREATS 85: a beginning covers nothing that makes a tool write a file of the
// caller's choice, start a program or read arguments from elsewhere.
func TestThreat85ToolsAndTheirTraps(t *testing.T) {
	p := New(Config{Workspace: project(t)})
	for _, c := range tools {
		for _, command := range c.covers {
			if got := begins(p, command); got != c.tool {
				t.Errorf("%q may be granted by %q, want %q", command, got, c.tool)
			}
		}
		for _, command := range c.traps {
			if got := begins(p, command); got != "" {
				t.Errorf("%q may be granted by %q", command, got)
			}
		}
	}
	// What these mean does not depend on the folders around.
	dotnet := prefixes[slices.IndexFunc(prefixes, func(x prefix) bool {
		return x.words[0] == "dotnet"
	})]
	for word, want := range map[string]bool{"src": true, "-c=Release": true, "/p:OutDir=src": false,
		"/t:Clean": false, "-c=../src": false, "../src": false} {
		if got := dotnet.permits(word); got != want {
			t.Errorf("dotnet test %s: %v, want %v", word, got, want)
		}
	}
}

// A rule that allows a beginning is the user's own word for any options, but not for
// words that stand in a file. One that asks or denies covers them.
func TestARuleWithAPrefixCoversNoFilesOfArguments(t *testing.T) {
	ws := project(t)
	decide := func(d event.Decision, prefix, command string) event.Decision {
		p := New(Config{Workspace: ws, Rules: []Rule{{
			Kind:     agent.KindShell,
			Prefix:   prefix,
			Decision: d,
		}}})
		return decided(p.Rule(t.Context(), agent.Permission{
			ToolName: "bash",
			Kind:     agent.KindShell,
			Resource: command,
			Cwd:      ws,
		}))
	}
	for _, c := range []struct {
		prefix, command string
		want            event.Decision
	}{
		{"pytest", "pytest tests", event.Allow},
		{"pytest", "pytest --junitxml=x.xml", event.Allow},
		{"cargo test", "cargo test -- --nocapture", event.Allow},
		{"git push", "git push git@github.com:a/b", event.Allow},
		{"pnpm --filter @a/b test", "pnpm --filter @a/b test", event.Allow},
		{"pytest", "pytest @args.txt", ""},
		{"pytest", "pytest -q '@args.txt'", ""},
		{"pytest", "pytest --lf --x=@args.txt", ""},
		{"gcc", "gcc -Wl,@args.txt", ""},
		{"pnpm --filter @a/b test", "pnpm --filter @a/b test @args.txt", ""},
	} {
		if got := decide(event.Allow, c.prefix, c.command); got != c.want {
			t.Errorf("%q, with %q allowed: %q, want %q", c.command, c.prefix, got, c.want)
		}
		if got := decide(event.Deny, c.prefix, c.command); got != event.Deny {
			t.Errorf("%q, with %q denied: %q", c.command, c.prefix, got)
		}
	}
}

// A script is one in the package.json of the command's own folder, as package managers
// read it.
func TestScriptsAreThoseOfTheCommandsFolder(t *testing.T) {
	ws := project(t)
	p := New(Config{Workspace: ws})
	grants := func(folder, command string) string {
		return strings.Join(texts(p.Grants(agent.Permission{
			Kind:     agent.KindShell,
			Resource: command,
			Cwd:      filepath.Join(ws, folder),
		})), "; ")
	}
	if got, want := grants(".", "npm run build"),
		"this command, exactly: `npm run build`; the script `npm run build`, without arguments; "+
			everyCommand; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	if got := grants(".", "npm test"); !strings.HasSuffix(got,
		"; the script `npm test`, alone or with paths inside this workspace; "+everyCommand) {
		t.Errorf("it says %q", got)
	}
	for _, folder := range []string{"bare", "sub"} {
		for _, command := range []string{"npm test", "yarn test", "npm run build", "yarn run build"} {
			if got, want := grants(folder, command), "this command, exactly, in `"+folder+"`: `"+command+
				"`; "+everyCommand; got != want {
				t.Errorf("%s: %q, want %q", folder, got, want)
			}
		}
	}
	for text, want := range map[string]bool{
		`{"scripts":{"build":"x"}}`: true,
		``:                          false, `{}`: false, `[]`: false, `null`: false,
		`{"scripts":null}`: false, `{"scripts":["build"]}`: false, `{"scripts":{"build":1}}`: false,
		`{"scripts":{"build":"x"}} x`: false, `{"scripts":{"Build":"x"}}`: false,
		`{"SCRIPTS":{"build":"x"}}`: false, `{"scripts":{"build":"x"},"scripts":{}}`: false,
		`{"scripts":{"build":"x"},"Scripts":{}}`: false, `{"scripts":{"build":"x"}}` +
			strings.Repeat(" ", maxManifest): false,
	} {
		if err := os.WriteFile(filepath.Join(ws, "package.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := begins(p, "yarn run build") != ""; got != want {
			t.Errorf("%.60s: %v, want %v", text, got, want)
		}
	}
	name := filepath.Join(ws, "package.json")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	outside := lay(t, "x/")
	if err := os.WriteFile(filepath.Join(outside, "p"), []byte(`{"scripts":{"build":"x"}}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	link(t, filepath.Join(outside, "p"), name)
	if got := begins(p, "yarn run build"); got != "" {
		t.Errorf("a link to another folder's package.json: %q", got)
	}
}

// FuzzScripts: a script is one only if JSON's own reader finds it, too, by its exact name.
func FuzzScripts(f *testing.F) {
	f.Add([]byte(`{"scripts":{"a":"b"}}`), "a")
	f.Add([]byte(`{"scripts":{"a":"b"},"scripts":{}}`), "a")
	f.Add([]byte(`{"Scripts":{"a":"b"}}`), "a")
	f.Fuzz(func(t *testing.T, manifest []byte, name string) {
		if !scriptIn(manifest, name) {
			return
		}
		var all map[string]any
		if err := json.Unmarshal(manifest, &all); err != nil {
			t.Fatal(err)
		}
		scripts, _ := all["scripts"].(map[string]any)
		if text, _ := scripts[name].(string); text == "" {
			t.Fatalf("%q has no script %q", manifest, name)
		}
	})
}

// FuzzPrefix: whatever follows a granted beginning is an option of the table, or a
// word that names no other place and no file of words.
func FuzzPrefix(f *testing.F) {
	for _, c := range tools {
		for _, command := range append(c.covers, c.traps...) {
			f.Add(command)
		}
	}
	f.Fuzz(func(t *testing.T, command string) {
		p := New(Config{Workspace: "/ws"})
		words, ok := simpleCommand(command)
		if !ok {
			return
		}
		begin, x := p.prefixOf(words, "/ws")
		if begin == "" {
			return
		}
		if strings.Join(words[:len(x.words)], " ") != begin {
			t.Fatalf("%q is covered by %q", command, begin)
		}
		for _, w := range words[len(x.words):] {
			name, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
			listed := slices.Contains(x.long, name) || name != "" && strings.Trim(name, x.short) == ""
			if strings.HasPrefix(w, "@") || strings.HasPrefix(w, "/") && !strings.HasPrefix(w, "/ws") ||
				strings.HasPrefix(w, "../") || strings.HasPrefix(w, "-") && !listed {
				t.Fatalf("%q is covered by %q in spite of %q", command, begin, w)
			}
		}
	})
}

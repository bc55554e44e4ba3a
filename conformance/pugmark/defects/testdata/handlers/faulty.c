/* A sample behind one fault, chosen by name, of what passes on its pipes.
 *
 *     faulty NAME COMMAND [ARG...]
 *
 * The input goes to COMMAND as it comes, unless the fault refuses it; the output goes
 * on when COMMAND has ended.
 */

#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *name;
static int is(const char *fault) { return !strcmp(name, fault); }

static void refuse(const char *why) {
	fprintf(stderr, "faulty: %s\n", why);
	exit(1);
}

/* Looks at one byte of the input, and says whether it may pass. */
static void look(char c) {
	static char last;
	static int depth, quoted, escaped;
	static size_t length;
	if (is("needs-space") && !depth && c == '{' && last == '}') refuse("a record directly behind another");
	if (is("needs-line-feeds") && !depth && (c == '\r' || c == '\t')) refuse("a separator that is no line feed");
	if (is("reads-lines") && depth && !quoted && c == '\n') refuse("a line that is no record");
	length = depth ? length + 1 : 0;
	if (is("short-buffer") && length > 65536) refuse("token too long");
	if (escaped) escaped = 0;
	else if (quoted && c == '\\') escaped = 1;
	else if (c == '"') quoted = !quoted;
	else if (!quoted && c == '{') depth++;
	else if (!quoted && c == '}') depth--;
	last = c;
}

/* Passes the input on; a byte that has to wait for its successor is held back. */
static void feed(int to) {
	char part[65536], held = 0;
	ssize_t n;
	int holding = 0;
	while ((n = read(0, part, sizeof part)) > 0) {
		for (ssize_t i = 0; i < n; i++) look(part[i]);
		if (is("needs-last-line-feed")) {
			if (holding && write(to, &held, 1) != 1) break;
			holding = part[n - 1] == '}';
			held = part[n - 1];
			n -= holding;
		}
		if (n > 0 && write(to, part, (size_t)n) != n) break;
	}
	close(to);
}

static char *slurp(int from, size_t *length) {
	char *all = malloc(1);
	ssize_t n;
	*length = 0;
	while ((all = realloc(all, *length + 65536)) && (n = read(from, all + *length, 65535)) > 0) *length += (size_t)n;
	if (!all) refuse("out of memory");
	all[*length] = 0;
	return all;
}

static void put(const char *bytes, size_t n) {
	if (fwrite(bytes, 1, n, stdout) != n) exit(1);
}

int main(int argc, char **argv) {
	int in[2], out[2], complaints[2], status;
	size_t length, said;
	if (argc < 3) refuse("want NAME COMMAND [ARG...]");
	name = argv[1];
	if (is("wants-terminal") && !isatty(0)) refuse("standard input is no terminal");
	if (pipe(in) || pipe(out) || pipe(complaints)) refuse("no pipe");
	pid_t sample = fork();
	if (!sample) {
		dup2(in[0], 0), dup2(out[1], 1), dup2(complaints[1], 2);
		close(in[0]), close(in[1]), close(out[0]), close(out[1]), close(complaints[0]), close(complaints[1]);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	close(in[0]), close(out[1]), close(complaints[1]);
	pid_t feeder = fork();
	if (!feeder) {
		close(out[0]), close(complaints[0]), close(1);
		feed(in[1]);
		exit(0);
	}
	close(in[1]);
	char *output = slurp(out[0], &length), *complaint = slurp(complaints[0], &said);
	waitpid(sample, &status, 0);
	int failed = !WIFEXITED(status) || WEXITSTATUS(status);
	fprintf(stderr, "%s", complaint);

	if (is("wraps-array") && length) put("[", 1);
	if (is("byte-order-mark") && length) put("\xef\xbb\xbf", 3);
	if (is("prints-banner")) put("Notebook 1.0 is ready\n", 22);
	if (is("wraps-array"))
		for (size_t i = 0; i + 1 < length; i++)
			if (output[i] == '\n') output[i] = ',';
	if (is("joins-by-line-feed") && length) length--;
	if (is("tears-last-record") && length > 2) length -= 2;
	put(output, length);
	if (is("wraps-array") && length) put("]\n", 2);
	if (is("ends-with-null")) put("null\n", 5);
	if (is("prints-trace") && failed) put(complaint, said);
	fflush(stdout);
	if (is("stays")) pause();
	if (is("lingers")) waitpid(feeder, &status, 0);
	if (!failed) {
		/* The feeder ends with the input or, where that stays open, here; one that
		 * has refused says so. */
		int refused = waitpid(feeder, &status, WNOHANG) == feeder && WIFEXITED(status) && WEXITSTATUS(status);
		kill(feeder, 9);
		return refused;
	}
	kill(feeder, 9);
	return 1;
}

import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** The guard is in the last stream. */
const GUARD = 3;

/**
 * A subshell waits at the other end of a pipe to this process, then the shell becomes the command. The pipe closes however this process
 * ends. The subshell then kills the command. A line through the pipe ends the subshell alone. The command comes in a variable, so that the arguments of
 * the subshell do not contain those of the command, by which the command is found.
 */
const SCRIPT = `
( read -r _ <&${GUARD} || kill -9 $$ ) >/dev/null 2>&1 &
exec ${GUARD}<&-
IFS='
'
set -f
command=$GUARDED_COMMAND
unset GUARDED_COMMAND
exec $command
`;

/**
 * Starts a command that ends when this process ends, SIGKILL included. It has a session of its own: a signal for the process
 * group of this process, as of Ctrl-C in a terminal, does not reach it. No argument may be empty or contain a line feed.
 */
export function spawnGuarded(
  command: readonly string[],
  output: readonly [number | 'pipe', number | 'pipe'],
  cwd?: string,
): ChildProcess {
  const env = { ...process.env, GUARDED_COMMAND: command.join('\n') };
  const child = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['ignore', ...output, 'pipe'], detached: true, env, cwd });
  const guard = child.stdio[GUARD] as Socket;
  // The guard may be gone before it is dismissed.
  guard.on('error', () => undefined);
  guard.unref();
  child.once('exit', () => guard.end('\n'));
  return child;
}

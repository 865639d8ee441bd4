import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** The file descriptor of the guard's end of the pipe. */
const GUARD = 3;

/**
 * A shell script that starts a guard and then becomes the command. The guard is a subshell that reads from a pipe to this
 * process. When this process ends, the pipe closes and the guard kills the command. A line through the pipe ends only the
 * guard. The command is in a variable, because `findProcesses` searches arguments and must not find the guard.
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
 * Starts a command that ends when this process ends, even after SIGKILL. It has its own session, so Ctrl-C in the
 * terminal does not reach it. Arguments must not be empty or contain a line feed.
 */
export function spawnGuarded(
  command: readonly string[],
  output: readonly [number | 'pipe', number | 'pipe'],
  cwd?: string,
): ChildProcess {
  const env = { ...process.env, GUARDED_COMMAND: command.join('\n') };
  const child = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['ignore', ...output, 'pipe'], detached: true, env, cwd });
  const guard = child.stdio[GUARD] as Socket;
  // Writing to a guard that has ended causes an error, which is ignored.
  guard.on('error', () => undefined);
  guard.unref();
  child.once('exit', () => guard.end('\n'));
  return child;
}

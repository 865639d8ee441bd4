import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** The file descriptor of a pipe to this process. */
const GUARD = 3;

/**
 * Starts a guard, a subshell, and then becomes the command. When this process ends, the pipe closes, and the guard
 * kills the command. A line through the pipe ends the guard without killing. The command is in a variable, because
 * `findProcesses` searches arguments and must not find the guard.
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
 * The command ends when this process ends, even by SIGKILL. Ctrl-C does not reach its session. Arguments must not be
 * empty or contain line feeds.
 */
export function spawnGuarded(
  command: readonly string[],
  output: readonly [number | 'pipe', number | 'pipe'],
): ChildProcess {
  const env = { ...process.env, GUARDED_COMMAND: command.join('\n') };
  const child = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['ignore', ...output, 'pipe'], detached: true, env });
  const guard = child.stdio[GUARD] as Socket;
  // The guard may have ended before.
  guard.on('error', () => undefined);
  guard.unref();
  child.once('exit', () => guard.end('\n'));
  return child;
}

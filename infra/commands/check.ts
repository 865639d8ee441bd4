/** `npm run check` runs the native compiler, which needs a third of the CPU time of the package `typescript`. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { projectDir } from '../build/build.ts';
import { installTool } from '../tools/installTool.ts';

const compiler = join(await installTool('nativeCompiler'), 'typescript/bin/tsc');
for (const project of ['.', 'infra/local/console/page']) {
  // Garbage collection would free little, because the compiler needs most of its memory until its end. Two checkers
  // need 50 % more CPU time than one, because both compute the types that they share.
  const { status } = spawnSync(process.execPath, [compiler, '-p', project, '--singleThreaded'], {
    cwd: projectDir,
    env: { GOGC: 'off', ...process.env },
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}

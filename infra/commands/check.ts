/**
 * `npm run check` checks the types of the project and of the local console's page. It runs the native compiler, which
 * needs a third of the CPU time of the package `typescript`. ESLint still needs that package.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { projectDir } from '../build/build.ts';
import { installTool } from '../tools/installTool.ts';

const compiler = join(await installTool('nativeCompiler'), 'typescript/bin/tsc');
for (const project of ['.', 'infra/local/console/page']) {
  // The compiler needs most of its memory until its end, so garbage collection would take time and free little. Two
  // checkers need 50 % more CPU time than one, because each computes types that the other computes too.
  const { status } = spawnSync(process.execPath, [compiler, '-p', project, '--singleThreaded'], {
    cwd: projectDir,
    env: { GOGC: 'off', ...process.env },
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}

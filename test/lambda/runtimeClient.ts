import { execFile } from 'node:child_process';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createFolder } from '../../infra/tools/createFolder.ts';
import { installTool } from '../../infra/tools/installTool.ts';

const run = promisify(execFile);

/** The programs that compile the native part of the package, with its copies of curl and aws-lambda-cpp. */
const PROGRAMS = ['cmake', 'make', 'gcc', 'g++', 'tar', 'xz'];

/** The source includes these headers of Node and uses nothing of them. The package of Node does not keep its headers. */
const UNUSED_HEADERS = ['node.h', 'uv.h', 'v8.h'];

const BUILD_MILLISECONDS = 600_000;

/**
 * Returns the path of AWS's runtime client for Node, the program that runs functions in Lambda. The first call installs and
 * compiles it. Throws an error that names what is missing.
 */
export async function runtimeClient(): Promise<string> {
  if (process.platform !== 'linux') throw new Error('The runtime client runs on Linux only.');
  for (const program of PROGRAMS)
    await run(program, ['--version']).catch(() => {
      throw new Error(`There is no ${program}, which compiles the runtime client.`);
    });
  const modules = await installTool('lambdaRuntime');
  const built = join(dirname(modules), 'built');
  await createFolder(built, async (draft) => {
    process.stderr.write('Compiling the runtime client …\n');
    await cp(join(modules, 'aws-lambda-ric'), draft, { recursive: true });
    await compile(draft, modules);
    await rm(join(draft, 'deps'), { recursive: true });
  });
  return join(built, 'index.mjs');
}

async function compile(dir: string, modules: string): Promise<void> {
  const options = { cwd: dir, timeout: BUILD_MILLISECONDS, maxBuffer: 2 ** 26 };
  await run('sh', ['scripts/preinstall.sh'], options);
  const [artifacts, unused] = [join(dir, 'deps/artifacts'), join(dir, 'deps/unused')];
  await mkdir(unused);
  for (const header of UNUSED_HEADERS) await writeFile(join(unused, header), '');
  const includes = [
    join(artifacts, 'include'),
    join(modules, 'node-addon-api'),
    join(modules, 'node-api-headers/include'),
    unused,
  ];
  const libraries = ['aws-lambda-runtime', 'curl'].map((name) => join(artifacts, `lib/lib${name}.a`));
  await run(
    'g++',
    [
      ...['-O1', '-fPIC', '-shared', '-std=c++17', '-pthread', ...includes.map((include) => `-I${include}`)],
      ...['src/native/rapid-client.cc', '-o', 'rapid-client.node', ...libraries],
    ],
    options,
  );
}

/**
 * `npm run test:generators` runs client generators for Python, Go, Java and TypeScript with the OpenAPI document, and compiles
 * what they write. Needs Python, and a JVM for OpenAPI Generator. It names what it skips without one of these programs.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectContext } from '../../infra/build/projectContext.ts';
import { referenceDocument } from '../../infra/build/reference.ts';
import { readSettings } from '../../infra/settings/settings.ts';
import { installTool } from '../../infra/tools/installTool.ts';
import { installPythonPackages } from './installPythonPackages.ts';

const run = promisify(execFile);
const MINUTES = 60_000;

interface Command {
  readonly program: string;
  readonly args: readonly string[];
}

interface Generator {
  readonly name: string;
  /** The programs that must be installed, each with the argument that prints its version. */
  readonly needs: readonly (readonly [program: string, argument: string])[];
  readonly generate: Command;
  /** The folder that the generator writes, in which `compile` runs. */
  readonly folder: string;
  readonly compile: Command;
}

/**
 * Options of OpenAPI Generator. Without the first one it also writes functions for webhooks: the code of those for Python does not
 * compile.
 */
const options = ['--global-property', 'apis,models,supportingFiles,apiTests=false,modelTests=false'];

/** The values that are a list or an object. The generator for Java writes a class for each that does not compile. */
const asObject = [
  'v2_commentannotations_get_200_response_result_data',
  'v2_crdt_add_request_data_data',
  'v2_users_count_get_200_response_result_data',
  'v2_users_get_200_response_result_data',
  'webhooks_comment_annotation_add_request_anyOf_data_newPriority',
  'webhooks_comment_annotation_assign_request_anyOf_data_newPriority',
];

const java = ['java', '-version'] as const;
const python = ['python3', '--version'] as const;

function openApiGenerator(
  name: string,
  packages: string,
  needs: Generator['needs'],
  { more = [], compile }: { more?: readonly string[]; compile: Command },
): Generator {
  const jar = join(packages, 'openapi_generator_cli/openapi-generator.jar');
  const args = ['-XX:TieredStopAtLevel=1', '-jar', jar, 'generate', '-i', 'openapi.json', '-g', name, '-o', name];
  return {
    name: `OpenAPI Generator, ${name}`,
    needs: [java, ...needs],
    generate: { program: 'java', args: [...args, ...options, ...more] },
    folder: name,
    compile,
  };
}

/** Imports all modules of the package in the folder. */
const imports = [
  '-c',
  'import pkgutil; [__import__(m.name) for m in pkgutil.walk_packages(["."]) if m.name != "setup"]',
];

function generatorsOf(packages: string, typescript: string): Generator[] {
  const compiler = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'esnext'];
  const lib = ['--moduleResolution', 'bundler', '--lib', 'es2022,dom,dom.iterable'];
  const importAll = { program: 'python3', args: imports };
  return [
    {
      name: 'openapi-python-client',
      needs: [python],
      generate: {
        program: 'python3',
        args: [
          '-m',
          'openapi_python_client',
          'generate',
          '--path',
          'openapi.json',
          '--output-path',
          'openapi-python-client',
        ],
      },
      folder: 'openapi-python-client',
      compile: importAll,
    },
    openApiGenerator('python', packages, [python], { compile: importAll }),
    openApiGenerator('typescript-fetch', packages, [], {
      compile: {
        program: process.execPath,
        args: [join(typescript, 'typescript/bin/tsc'), ...compiler, ...lib, 'index.ts'],
      },
    }),
    openApiGenerator('go', packages, [['go', 'version']], { compile: { program: 'go', args: ['build', './...'] } }),
    openApiGenerator('java', packages, [['mvn', '--version']], {
      more: [
        ...['--library', 'native', '--additional-properties', 'openApiNullable=false'],
        ...['--schema-mappings', asObject.map((name) => `${name}=Object`).join(',')],
      ],
      compile: { program: 'mvn', args: ['-q', '-B', 'compile'] },
    }),
  ];
}

async function missingProgram({ needs }: Generator): Promise<string | undefined> {
  for (const [program, argument] of needs) if (!(await exists(program, argument))) return program;
  return undefined;
}

async function exists(program: string, argument: string): Promise<boolean> {
  return run(program, [argument]).then(
    () => true,
    () => false,
  );
}

async function main(folder: string): Promise<number> {
  if (!(await exists(...python))) {
    console.log('SKIPPED: the client generators for Python, Go and Java. There is no python3, which installs them.');
    return 0;
  }
  const packages = await installPythonPackages();
  const context = projectContext();
  const { serviceName } = readSettings((name) => context[name]);
  const document = await referenceDocument({ url: 'http://127.0.0.1:3000', serviceName });
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(document));
  const env = { ...process.env, PYTHONPATH: packages, GOFLAGS: '-mod=mod' };
  const start = ({ program, args }: Command, cwd: string) =>
    run(program, args, { cwd, env, timeout: 10 * MINUTES, maxBuffer: 2 ** 28 });
  let failures = 0;
  for (const generator of generatorsOf(packages, await installTool('clientGenerators'))) {
    const missing = await missingProgram(generator);
    if (missing !== undefined) {
      console.log(`SKIPPED: ${generator.name}. There is no ${missing}.`);
      continue;
    }
    try {
      await start(generator.generate, folder);
      await start(generator.compile, join(folder, generator.folder));
      console.log(`Compiles: ${generator.name}`);
    } catch (error) {
      failures += 1;
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      console.log(
        `FAILED: ${generator.name}: ${(error as Error).message.slice(0, 300)}\n${stdout.slice(-2000)}${stderr.slice(-2000)}`,
      );
    }
  }
  return failures;
}

const folder = await mkdtemp(join(tmpdir(), 'generators-'));
try {
  process.exitCode = (await main(folder)) > 0 ? 1 : 0;
} finally {
  await rm(folder, { recursive: true, force: true });
}

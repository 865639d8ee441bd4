import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { projectDir } from '../../infra/build/build.ts';
import { contextFromArguments } from '../../infra/build/checkSettings.ts';

/** Prints the CPU time of a process in ms, and whether it loaded the CDK, when it ends. */
const meter = `data:text/javascript,${encodeURIComponent(`
  import { createRequire } from 'node:module';
  const { cache } = createRequire(process.cwd() + '/meter.js');
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    const loadsCdk = Object.keys(cache).some((file) => /aws-cdk/.test(file));
    process._rawDebug(JSON.stringify({ milliseconds: (user + system) / 1000, loadsCdk }));
  });
`)}`;

async function runOf(args: string[], env: Record<string, string> = {}) {
  const run = spawn(process.execPath, ['--import', meter, ...args], {
    cwd: projectDir,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [errors, [code]] = await Promise.all([text(run.stderr), once(run, 'exit')]);
  const lines = errors.trimEnd().split('\n');
  const usage = JSON.parse(lines.pop()!) as { milliseconds: number; loadsCdk: boolean };
  return { code: code as number, problems: lines.slice(1).map((line) => line.trim()), ...usage };
}

/** On a busy machine, compares the CPU time with that of loading the declarations of all functions. */
async function expectFast({ milliseconds }: { readonly milliseconds: number }): Promise<void> {
  if (milliseconds < 2_000) return;
  const declarations = await runOf(['infra/build/registry.ts']);
  expect(milliseconds).toBeLessThan(2 * declarations.milliseconds);
}

describe('an invalid setting fails in two seconds of CPU, before the CDK is loaded,', () => {
  test.each([
    ['value', { logRetentionDays: '31', tags: 'team=web', kmsKeyArn: 'alias/backend' }],
    ['name of a worker or family', { warmFamilies: 'v2/nothing', reservedConcurrency: '{"runjobs":5}' }],
  ])('in the app: a wrong %s', async (_what, wrong) => {
    const run = await runOf(['infra/app.ts'], { CDK_CONTEXT_JSON: JSON.stringify(wrong) });
    expect(run).toMatchObject({ code: 1, loadsCdk: false });
    expect(run.problems.map((problem) => problem.split(':')[0])).toEqual(Object.keys(wrong));
    await expectFast(run);
  });

  test.each([
    ['synth', ['synth', '-q', '-c', 'logRetentionDays=31'], ['logRetentionDays']],
    ['deploy', ['deploy', '--yes', '--context=warmFamilies=v2/nothing'], ['warmFamilies']],
    ['diff', ['diff', '-c', 'colour=red', '--context', 'domainName=api.example.com'], ['certificateArn', 'colour']],
  ])('in the command %s', async (_command, args, names) => {
    const run = await runOf(['infra/commands/cdk.ts', ...args]);
    expect(run).toMatchObject({ code: 1, loadsCdk: false });
    expect(run.problems.map((problem) => problem.split(':')[0])).toEqual(names);
    await expectFast(run);
  });
});

test('the context in the arguments of the CDK has each form that the CDK accepts', () => {
  expect(
    contextFromArguments([
      'deploy',
      '-c',
      'a=1=2',
      '--context',
      'b=',
      '-cc=3',
      '--context=d=4',
      '--ci=true',
      '-c',
      'flag',
    ]),
  ).toEqual({ a: '1=2', b: '', c: '3', d: '4' });
  expect(contextFromArguments(['synth', '-q', '--concurrency=4', '-c'])).toEqual({});
});

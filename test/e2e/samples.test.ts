import { execFile, execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectDir } from '../../infra/build/build.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { startSystem, type System } from './system.ts';

const run = promisify(execFile);
const guide = await readFile(join(projectDir, 'functions/START.md'), 'utf8');
const folder = temporaryFolder();

/** How the samples of a language run as one file. */
const runners = {
  sh: { file: 'samples.sh', program: 'bash', start: 'set -euo pipefail\n' },
  ts: { file: 'samples.mts', program: process.execPath, start: '' },
  python: { file: 'samples.py', program: 'python3', start: '' },
} as const;
type Language = keyof typeof runners;
const languages = Object.keys(runners) as Language[];

/** The samples of each section of the guide, by language. */
const sections = guide.split(/^## /m).slice(1);
const samplesOf = (text: string, language: Language) =>
  [...text.matchAll(/```(\w+)\n([^]*?)```/g)].filter(([, lang]) => lang === language).map(([, , code = '']) => code);

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

test('each step has a sample in each language', () => {
  expect(sections.length).toBeGreaterThanOrEqual(7);
  for (const section of sections)
    expect([section.split('\n')[0], languages.filter((language) => samplesOf(section, language).length === 0)]).toEqual(
      [section.split('\n')[0], []],
    );
});

describe('the samples of First calls', () => {
  /** Runs the samples of a language as one program. Each language has an organization and a receiver of its own. */
  async function output(language: Language): Promise<string> {
    const { file, program, start } = runners[language];
    const code = samplesOf(guide, language)
      .filter((sample) => !sample.startsWith('export BASE_URL'))
      .join('\n')
      .replaceAll('acme', `acme-${language}`)
      .replaceAll('first-thread', `first-thread-${language}`)
      .replaceAll('receiver.example.com', `receiver-${language}.example.com`);
    await writeFile(join(folder, file), start + code);
    const { baseUrl, apiKey, authToken } = system.credentials;
    const env = { ...process.env, BASE_URL: baseUrl, API_KEY: apiKey, AUTH_TOKEN: authToken };
    return (await run(program, [join(folder, file)], { env })).stdout;
  }

  async function expectResults(language: Language): Promise<void> {
    const nda = { organizationId: `acme-${language}`, documentId: 'nda' };
    const [thread, ...others] = await system.ok('/v2/commentannotations/get', nda);
    expect([thread.comments[0].commentText, others]).toEqual(['Is clause 4 right?', []]);
    const users = await system.ok('/v2/users/get', nda);
    expect(users.map(({ userId }: { userId: string }) => userId).sort()).toEqual(['ada', 'grace']);
    const { endpoints } = await system.ok('/v2/workspace/advancedwebhook/endpoints/get', {});
    expect(endpoints.map(({ url }: { url: string }) => url)).toContain(
      `https://receiver-${language}.example.com/events`,
    );
  }

  test('with curl: every call succeeds', async () => {
    const answers = await output('sh');
    expect(answers).toContain('"commentText":"Is clause 4 right?"');
    expect(answers.match(/"status":"success"/g)).toHaveLength(7);
    await expectResults('sh');
  });

  test('in TypeScript: prints the comment and a user token', async () => {
    expect(await output('ts')).toMatch(/^Is clause 4 right\?\neyJ\S+\n$/);
    await expectResults('ts');
  });

  const hasPython = ['python3'].some((program) => {
    try {
      return execFileSync(program, ['--version']).length > 0;
    } catch {
      return false;
    }
  });
  (hasPython ? test : test.skip)(
    'in Python, where python3 is installed: prints the comment and a user token',
    async () => {
      expect(await output('python')).toMatch(/^Is clause 4 right\?\neyJ\S+\n$/);
      await expectResults('python');
    },
  );
});

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { shareContract } from '../samples/typedClient.ts';
import { startSystem, type System } from './system.ts';

const project = resolve(import.meta.dirname, '../..');
const readme = await readFile(resolve(project, 'README.md'), 'utf8');
const quickStart = readme.slice(readme.indexOf('## Quick start'));

/** The code blocks of the quick start with their languages, in order. */
const blocks = [...quickStart.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language, text]) => ({
  language,
  text: text as string,
}));
const functions = blocks.find(({ text }) => text.includes('call() {'))?.text ?? '';
const requests = blocks.flatMap(({ language, text }, index) =>
  language === 'json' ? [{ request: blocks[index - 1]?.text as string, answer: JSON.parse(text) as unknown }] : [],
);

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

test('the sample of the typed client works as documented', async () => {
  expect(await shareContract(system.credentials)).toEqual(['contract']);
});

describe("the README's quick start", () => {
  test('has three requests, each with its answer', () => {
    expect(requests).toHaveLength(3);
    expect(requests.every(({ request }) => request.startsWith('call /v2/'))).toBe(true);
  });

  test('produces the documented answers when pasted into a shell', async () => {
    const run = promisify(execFile);
    for (const { request, answer } of requests) {
      const { stdout } = await run('bash', ['-c', `${functions}\n${request}`], {
        cwd: project,
        env: { ...process.env, DATA_DIR: system.dataDir },
      });
      expect(JSON.parse(stdout)).toEqual(answer);
    }
  });
});

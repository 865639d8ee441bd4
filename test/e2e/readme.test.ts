import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { installPythonPackages } from '../generators/installPythonPackages.ts';
import { shareContract } from '../samples/typedClient.ts';
import { freePort } from '../support/moto.ts';
import { mailsOnce, startSystem, type System, until } from './system.ts';

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
  test('has four requests, each with its answer', () => {
    expect(requests).toHaveLength(4);
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

describe('the section of the guide about comments that notify', () => {
  const samples = resolve(project, 'test/samples');
  const receivers: ChildProcess[] = [];
  afterAll(() => receivers.forEach((receiver) => receiver.kill()));

  /** The requests of the section, by the last two parts of their paths. */
  async function requestsOfGuide(): Promise<Record<string, { path: string; data: any }>> {
    const guide = await readFile(resolve(project, 'functions/README.md'), 'utf8');
    const [, section = ''] = /## From a comment to a webhook[^\n]*(.*?)\n## /s.exec(guide) ?? [];
    const found = section.matchAll(/^POST (\S+\/(\w+\/\w+))\n(\{.*?\})(?=\n\n|\n```)/gms);
    return Object.fromEntries(
      [...found].map(([, path = '', name = '', body = '']) => [name, { path, data: JSON.parse(body).data }]),
    );
  }

  /** Starts a receiver as the guide does. Returns its lines after the first one. */
  async function startReceiver([program, sample, env]: readonly [string, string, Record<string, string>]) {
    const guide = await requestsOfGuide();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const { path, data } = guide['endpoints/create']!;
    const { id } = await system.ok(path, { ...data, url: data.url.replace('http://127.0.0.1:4000', url) });
    const { secret } = await system.ok(guide['secret/get']!.path, { endpointId: id });
    const receiver = spawn(program, [resolve(samples, sample)], {
      cwd: project,
      env: { ...process.env, ...env, PORT: String(port), WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    receivers.push(receiver);
    const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe(`Waiting on ${url}`);
    const forged = await until(
      () =>
        fetch(url, { method: 'POST', body: '{}' }).then(
          ({ status }) => status,
          () => undefined,
        ),
      (status) => status !== undefined,
    );
    expect(forged).toBe(400);
    return lines;
  }

  test('leads to receivers in Node and Python, to a mail and to a notification', async () => {
    const guide = await requestsOfGuide();
    for (const name of ['advancedwebhookconfig/update', 'emailconfig/update', 'notificationconfig/update', 'users/add'])
      await system.ok(guide[name]!.path, guide[name]!.data);
    const node = [process.execPath, 'webhookReceiver.mjs', {}] as const;
    const hasPython = await promisify(execFile)('python3', ['--version']).then(
      () => true,
      () => false,
    );
    const python = async () =>
      ['python3', 'webhook_receiver.py', { PYTHONPATH: await installPythonPackages(samples) }] as const;
    const received = await Promise.all([node, ...(hasPython ? [await python()] : [])].map(startReceiver));
    const { path, data } = guide['commentannotations/add']!;
    const mailed = (await mailsOnce(system.dataDir, () => true)).length;
    await system.ok(path, data);
    for (const lines of received)
      expect((await lines.next()).value).toBe('comment_annotation.add Is this right, @Grace?');
    const mails = await mailsOnce(system.dataDir, ({ length }) => length > mailed);
    expect(mails.at(-1)).toContain('To: grace@example.com');
    expect(mails.at(-1)).toContain('Is this right, @Grace?');
    const notifications = () => system.ok('/v2/notifications/get', { organizationId: 'acme', userId: 'grace' });
    const [newest] = await until(notifications, ({ length }) => length > 0);
    expect(newest).toMatchObject({ actionUser: { userId: 'ada' }, displayBodyMessage: 'Is this right, @Grace?' });
  });
});

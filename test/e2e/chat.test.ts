import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mailsOnce, startSystem, type System, until } from './system.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

const call = async (path: string, data: object) => (await system.post(path, data)).body.result;
const nda = { organizationId: 'acme', documentId: 'nda' };
const mention = (annotationId: string) =>
  call('/v2/commentannotations/add', {
    ...nda,
    commentAnnotations: [
      {
        annotationId,
        commentData: [
          {
            commentText: 'Is this right?',
            from: { userId: 'ada' },
            taggedUserContacts: [{ userId: 'grace' }],
            triggerNotification: true,
          },
        ],
      },
    ],
  });

/** The texts of the messages in the outbox, by receiver. */
async function messages(): Promise<Record<string, string>> {
  const folder = join(system.dataDir, 'outbox', 'slack');
  const files = await readdir(folder).catch(() => []);
  const complete = files.filter((name) => name.endsWith('.json'));
  const read = await Promise.all(complete.map((name) => readFile(join(folder, name), 'utf8')));
  const parsed = read.map((text) => JSON.parse(text) as Record<string, string>);
  return Object.fromEntries(parsed.map(({ to, channelWebhook, text = '' }) => [to ?? channelWebhook, text]));
}

test('a mention reaches the user and the channel in Slack, and a dead token reaches the owner by mail', async () => {
  const users = [
    { userId: 'ada', name: 'Ada' },
    { userId: 'grace', name: 'Grace', email: 'grace@example.com' },
  ];
  await call('/v2/users/add', { ...nda, createOrganization: true, createDocument: true, users });
  const channelWebhookUrl = `${system.baseUrl}/_local/slack/services/T1/B1/team`;
  const configured = await call('/v2/workspace/chatconfig/update', {
    useChatService: true,
    chatServiceConfig: { botToken: 'xoxb-works-on-this-machine', channelWebhookUrl },
  });
  expect(configured.data.chatServiceConfig).toMatchObject({ botToken: '****hine', channelWebhookUrl: '****team' });
  await mention('first');
  const sent = await until(messages, (all) => Object.keys(all).length === 2);
  expect(sent).toEqual({
    'grace@example.com': '*Ada mentioned you*\n> Is this right?',
    '/services/T1/B1/team': '*Ada commented*\n> Is this right?',
  });

  await call('/v2/workspace/chatconfig/update', { chatServiceConfig: { botToken: 'xoxb-dead' } });
  await mention('second');
  const [mail] = await mailsOnce(system.dataDir, (mails) => mails.length > 0);
  expect(mail).toContain('Subject: Direct messages to your users in Slack cannot be sent');
  const log = await readFile(join(system.dataDir, 'functions.log'), 'utf8');
  expect(log).not.toContain('xoxb-');
  expect(log).not.toContain('AccessDenied');
});

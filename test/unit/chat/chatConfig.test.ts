import { describe, expect, test } from '@jest/globals';
import {
  changeChatConfig,
  ChatConfigChange,
  initialChatConfig,
  requireChannelUrl,
  toChatConfigResponse,
} from '../../../lib/chat/rules/chatConfig.ts';
import { defaultEmailTriggers } from '../../../lib/events/rules/catalogue.ts';
import { requestIssues } from '../../support/requestIssues.ts';

const issuesOf = (chatServiceConfig: object) =>
  requestIssues(ChatConfigChange, { chatServiceConfig }).map(({ path }) => path.slice(1).join('.'));

describe('ChatConfigChange', () => {
  test.each(['', 'xoxb-1234-5678-AbCd_ef', 'xoxe.xoxb-1-Mi0'])('accepts the bot token %j', (botToken) => {
    expect(issuesOf({ botToken })).toEqual([]);
  });

  test.each([
    ['botToken', 'xoxp-1234-5678'],
    ['botToken', '****a1b2'],
    ['botToken', 'xoxb-'],
    ['botToken', 'xoxb-1\r\nx: y'],
    ['botToken', `xoxb-${'1'.repeat(508)}`],
    ['provider', 'teams'],
    ['channelWebhookUrl', 7],
  ])('rejects %s %j', (field, value) => {
    expect(issuesOf({ [field]: value })).toEqual([field]);
  });

  test('rejects a trigger of an event without recipients, and a misspelt one', () => {
    expect(issuesOf({ triggers: { 'recorder.done': true } })).toEqual(['triggers.recorder.done']);
    expect(issuesOf({ triggers: { 'comment.added': true } })).toEqual(['triggers.comment.added']);
    expect(issuesOf({ triggers: { 'recorder.done': false, 'comment.add': true } })).toEqual([]);
  });
});

describe('requireChannelUrl', () => {
  const isRefused = (channelWebhookUrl: string, allowLoopback: boolean) => {
    try {
      requireChannelUrl({ chatServiceConfig: { channelWebhookUrl } }, { allowLoopback });
    } catch (error) {
      expect(error).toMatchObject({ details: { issues: [{ path: ['chatServiceConfig', 'channelWebhookUrl'] }] } });
      return true;
    }
    return false;
  };
  const slack = 'hooks.slack.com/services/T0/B0/x';

  test.each([
    ['', false, false],
    [`https://${slack}`, false, false],
    ['http://127.0.0.1:4000/services/x', true, false],
    ['http://localhost:4000/services/x', true, false],
    [`http://${slack}`, true, true],
    ['https://hooks.slack.com:444/services/T0', true, true],
    [`https://user:password@${slack}`, true, true],
    ['https://hooks.slack.com/', true, true],
    ['https://hooks.slack.com.evil.example/services/T0', true, true],
    ['https://slack.com/services/T0', true, true],
    ['https://example.com/services/x', true, true],
    ['http://10.0.0.1/services/x', true, true],
    ['no url', true, true],
  ])('refuses %j in a deployment: %p, in the local run: %p', (url, deployed, local) => {
    expect([isRefused(url, false), isRefused(url, true)]).toEqual([deployed, local]);
  });
});

describe('changeChatConfig', () => {
  const own = { 'comment.add': false };

  test.each([
    [undefined, undefined, undefined],
    [true, undefined, defaultEmailTriggers],
    [true, own, { ...defaultEmailTriggers, ...own }],
    [false, own, own],
  ])('sets triggers at first: useChatService %p with triggers %j gives %j', (useChatService, triggers, expected) => {
    const changed = changeChatConfig(undefined, { useChatService, chatServiceConfig: { triggers } });
    expect(changed.chatServiceConfig.triggers).toEqual(expected);
  });

  test('keeps stored triggers when chat is enabled again', () => {
    const stored = {
      ...initialChatConfig,
      chatServiceConfig: { ...initialChatConfig.chatServiceConfig, triggers: own },
    };
    expect(changeChatConfig(stored, { useChatService: true }).chatServiceConfig.triggers).toEqual(own);
  });
});

test('toChatConfigResponse masks both secrets, and leaves missing ones empty', () => {
  const { chatServiceConfig } = initialChatConfig;
  const secrets = { botToken: 'xoxb-12345678901-a1b2', channelWebhookUrl: 'https://hooks.slack.com/services/w8Qz' };
  const response = (fields: object) =>
    toChatConfigResponse({ useChatService: true, chatServiceConfig: { ...chatServiceConfig, ...fields } });
  expect(response(secrets).chatServiceConfig).toEqual({
    provider: 'slack',
    botToken: '****a1b2',
    channelWebhookUrl: '****w8Qz',
  });
  expect(response({}).chatServiceConfig).toEqual(chatServiceConfig);
});

import { describe, expect, test } from '@jest/globals';
import { defaultEmailTriggers, mailedTypes, triggerTypes } from '../../../lib/events/rules/catalogue.ts';
import {
  changeEmailConfig,
  EmailConfig,
  EmailConfigChange,
  initialEmailConfig,
} from '../../../lib/workspaces/rules/emailConfig.ts';
import { MAILABLE, NOT_MAILABLE } from '../../support/mailAddresses.ts';
import { requestIssues } from '../../support/requestIssues.ts';

/** Returns the data of a request as the endpoint parses them. */
const sent = (data: object) => EmailConfigChange.parse(data);
const configured = (useEmailService: boolean, fields: Partial<EmailConfig['emailServiceConfig']>): EmailConfig => ({
  useEmailService,
  emailServiceConfig: { ...initialEmailConfig.emailServiceConfig, ...fields },
});

const own = { 'comment.add': false, 'huddle.join': true };
const provider = {
  apiKey: 'sealed',
  fromEmail: 'a@example.com',
  fromCompany: 'Acme',
  commentTemplateId: 'c',
  tagTemplateId: 't',
  digestTemplateId: 'd',
} as const;

/**
 * The expected configuration: whether the service is on, its type, and its triggers. The triggers are the defaults
 * (`seeded`), none, or the given ones.
 */
type Outcome = readonly [boolean, string, 'seeded' | 'none' | object];
type Row = readonly [
  useEmailService: boolean | undefined,
  type: string | undefined,
  triggers: object | undefined,
  outcome: Outcome,
];

function expectOutcome(
  stored: EmailConfig | undefined,
  [useEmailService, type, triggers, [on, typeAfter, triggersAfter]]: Row,
): void {
  const change = { useEmailService, emailServiceConfig: { type, triggers } };
  const { useEmailService: isOn, emailServiceConfig } = changeEmailConfig(stored, sent(change));
  const expected =
    triggersAfter === 'seeded'
      ? { ...defaultEmailTriggers, ...triggers }
      : triggersAfter === 'none'
        ? undefined
        : triggersAfter;
  expect({ isOn, ...emailServiceConfig }).toEqual({
    ...(stored ?? initialEmailConfig).emailServiceConfig,
    isOn: on,
    type: typeAfter,
    ...(expected && { triggers: expected }),
  });
}

describe('changeEmailConfig while no triggers are stored', () => {
  const enabling: Row[] = [
    [true, undefined, undefined, [true, 'custom', 'seeded']],
    [undefined, 'custom', undefined, [true, 'custom', 'seeded']],
    [true, 'custom', undefined, [true, 'custom', 'seeded']],
    // Here the request also has fields that the defaults would set. The request's values win.
    [true, 'default', undefined, [true, 'default', 'seeded']],
    [true, 'sendgrid', undefined, [true, 'sendgrid', 'seeded']],
    [false, 'custom', undefined, [false, 'custom', 'seeded']],
    [true, undefined, own, [true, 'custom', 'seeded']],
    [undefined, 'custom', own, [true, 'custom', 'seeded']],
    [false, 'custom', own, [false, 'custom', 'seeded']],
    // An empty object of triggers changes nothing.
    [true, undefined, {}, [true, 'custom', 'seeded']],
  ];
  const others: Row[] = [
    [undefined, undefined, undefined, [false, 'default', 'none']],
    [undefined, 'default', undefined, [false, 'default', 'none']],
    [undefined, 'sendgrid', undefined, [false, 'sendgrid', 'none']],
    [false, undefined, undefined, [false, 'default', 'none']],
    [false, 'default', undefined, [false, 'default', 'none']],
    [false, 'sendgrid', undefined, [false, 'sendgrid', 'none']],
    [undefined, undefined, own, [false, 'default', own]],
    [false, undefined, own, [false, 'default', own]],
    [undefined, 'sendgrid', own, [false, 'sendgrid', own]],
  ];

  test.each([...enabling, ...others])(
    'never configured: useEmailService %p, type %p, triggers %p gives %p',
    (...row) => {
      expectOutcome(undefined, row);
    },
  );

  test.each(enabling)(
    'configured with a provider: useEmailService %p, type %p, triggers %p gives %p and keeps its fields',
    (...row) => {
      expectOutcome(configured(false, { ...provider, type: 'sendgrid' }), row);
    },
  );

  test.each([[configured(false, {})], [configured(false, { triggers: {} })]])(
    'sets the defaults at the first enabling after other updates: %p',
    (stored) => {
      expectOutcome(changeEmailConfig(stored, sent({ emailServiceConfig: { fromCompany: 'Acme' } })), [
        true,
        undefined,
        undefined,
        [true, 'custom', 'seeded'],
      ]);
    },
  );

  test('sets the triggers of comments and huddles, with suggestions off', () => {
    expect(changeEmailConfig(undefined, { useEmailService: true }).emailServiceConfig.triggers).toEqual({
      'comment_annotation.add': true,
      'comment_annotation.assign': true,
      'comment_annotation.status_change': true,
      'comment_annotation.priority_change': true,
      'comment_annotation.custom_list_change': true,
      'comment_annotation.subscribe': true,
      'comment_annotation.unsubscribe': true,
      'comment_annotation.accept': true,
      'comment_annotation.reject': true,
      'comment_annotation.approve': true,
      'comment_annotation.suggestion_accept': false,
      'comment_annotation.suggestion_reject': false,
      'comment.add': true,
      'comment.update': true,
      'comment.delete': true,
      'comment.reaction_add': true,
      'comment.reaction_delete': true,
      'huddle.create': true,
      'huddle.join': true,
    });
  });
});

describe('changeEmailConfig while triggers are stored', () => {
  const stored = { 'comment.add': true, 'huddle.join': false };
  const rows: Row[] = [
    [true, undefined, undefined, [true, 'sendgrid', stored]],
    [false, undefined, undefined, [false, 'sendgrid', stored]],
    [true, 'custom', undefined, [true, 'custom', stored]],
    [true, 'default', undefined, [true, 'default', stored]],
    [false, 'custom', undefined, [false, 'custom', stored]],
    [true, undefined, own, [true, 'sendgrid', { ...stored, ...own }]],
    [false, 'custom', own, [false, 'custom', { ...stored, ...own }]],
    [true, undefined, { 'comment.add': null }, [true, 'sendgrid', stored]],
  ];

  test.each(rows)('changes a disabled service: useEmailService %p, type %p, triggers %p gives %p', (...row) => {
    expectOutcome(configured(false, { ...provider, type: 'sendgrid', triggers: stored }), row);
  });

  test.each(rows)('changes an enabled service: useEmailService %p, type %p, triggers %p gives %p', (...row) => {
    expectOutcome(configured(true, { ...provider, type: 'sendgrid', triggers: stored }), row);
  });

  test.each([
    ['off', false, undefined, undefined, undefined],
    ['on', true, undefined, 'custom', undefined],
    ['on', true, undefined, undefined, own],
  ])(
    'keeps the service %s when the update does not send useEmailService',
    (_what, on, useEmailService, type, triggers) => {
      expectOutcome(configured(on, { type: 'default', triggers: stored }), [
        useEmailService,
        type,
        triggers,
        [on, type ?? 'default', { ...stored, ...triggers }],
      ]);
    },
  );
});

test('a configuration of before digests has no template of them', () => {
  const { digestTemplateId: _, ...earlier } = initialEmailConfig.emailServiceConfig;
  expect(EmailConfig.parse({ useEmailService: false, emailServiceConfig: earlier })).toEqual(initialEmailConfig);
});

describe('EmailConfigChange', () => {
  const issuesOf = (emailServiceConfig: unknown) =>
    requestIssues(EmailConfigChange, { emailServiceConfig }).map(({ path }) => path.slice(1).join('.'));

  test.each([
    ...['fromEmail', 'fromCompany', 'apiKey', 'commentTemplateId', 'tagTemplateId', 'digestTemplateId'].map(
      (field) => ({ [field]: '' }),
    ),
    { fromEmail: 'ada+notes@mail.example.co.uk' },
    ...MAILABLE.map(([fromEmail]) => ({ fromEmail })),
    { fromCompany: 'Müller & Söhne “GmbH”' },
    { apiKey: '~'.repeat(4_096) },
    { fromCompany: 'x'.repeat(512) },
    { triggers: Object.fromEntries(mailedTypes.map((type) => [type, true])) },
    { triggers: Object.fromEntries(triggerTypes.map((type) => [type, false])) },
  ])('accepts %j', (fields) => {
    expect(issuesOf(fields)).toEqual([]);
  });

  test.each([
    ['type', 'ses'],
    ['type', 'Custom'],
    ['type', ''],
    ['apiKey', 'x'.repeat(4_097)],
    ['apiKey', 'key\n'],
    ['apiKey', 'ключ'],
    ['apiKey', 'key '],
    ['apiKey', ' key'],
    ['apiKey', 7],
    ['fromEmail', 'ada'],
    ...NOT_MAILABLE.map((address) => ['fromEmail', address] as const),
    ['fromEmail', 'ada@example.com\r\nBcc: eve@example.com'],
    ['fromEmail', 'ada@example.com\n'],
    ['fromEmail', 'Ada <ada@example.com>'],
    ['fromEmail', `${'x'.repeat(250)}@example.com`],
    ['fromCompany', 'Acme\r\nBcc: eve@example.com'],
    ['fromCompany', 'Acme\u2028'],
    ['fromCompany', 'Acme\0'],
    ['fromCompany', '\ud800'],
    ['fromCompany', 'x'.repeat(513)],
    ['commentTemplateId', 'a\tb'],
    ['tagTemplateId', 5],
    ['digestTemplateId', 'a\tb'],
    ['triggers', []],
  ])('rejects %s %j', (field, value) => {
    expect(issuesOf({ [field]: value })).toEqual([field]);
  });

  test('names the invalid trigger', () => {
    expect(issuesOf({ triggers: { 'comment.add': 'yes' } })).toEqual(['triggers.comment.add']);
    const unknown = { triggers: JSON.parse('{"comment.added":true,"__proto__":true}') as unknown };
    expect(issuesOf(unknown)).toEqual(['triggers.comment.added', 'triggers.__proto__']);
  });
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { changeAdvancedConfig } from '../../../lib/webhooks/rules/advanced.ts';
import { changeBasicConfig } from '../../../lib/webhooks/rules/basic.ts';
import { changeEndpoint, newEndpoint } from '../../../lib/webhooks/rules/endpoints.ts';
import {
  liveSecrets,
  longestOverlapSeconds,
  rotateSecrets,
  type SigningSecret,
} from '../../../lib/webhooks/rules/secrets.ts';
import { defaultWebhookTriggers, eventTypes, triggerTypes } from '../../../lib/events/rules/catalogue.ts';
import { EventTypeName, TriggerMap } from '../../../lib/events/rules/triggers.ts';

const NOW = Date.UTC(2026, 10, 20);
const secret = (sealed: string, createdAt = NOW, expiresAt?: number): SigningSecret => ({
  sealed,
  createdAt,
  ...(expiresAt !== undefined && { expiresAt }),
});

describe('the catalogue of events', () => {
  test('facts B6: each type is there once, and each is taken as a filter', () => {
    expect(new Set(eventTypes).size).toBe(eventTypes.length);
    for (const type of eventTypes) expect(EventTypeName.safeParse(type).success).toBe(true);
    for (const other of [
      '',
      'comment',
      'comment.',
      'comment.added',
      'COMMENT.ADD',
      'comment.add ',
      '__proto__',
      'toString',
    ])
      expect(EventTypeName.safeParse(other).success).toBe(false);
  });

  test('spec 4.7 rule 1: the defaults speak of every trigger, and turn on comments and huddles but for suggestions', () => {
    const on = triggerTypes.filter(
      (type) => /^(comment|comment_annotation|huddle)\./.test(type) && !type.includes('suggestion'),
    );
    expect(defaultWebhookTriggers).toEqual(Object.fromEntries(triggerTypes.map((type) => [type, on.includes(type)])));
    expect(TriggerMap.safeParse(defaultWebhookTriggers).success).toBe(true);
  });

  test('a trigger map takes no key but those of the catalogue, __proto__ among them', () => {
    for (const key of ['comment.added', 'execution.completed', 'constructor', '__proto__']) {
      expect(TriggerMap.safeParse(JSON.parse(`{${JSON.stringify(key)}:true}`)).success).toBe(false);
    }
  });
});

describe('design 6: rotating a secret', () => {
  const HOUR = 3_600_000;

  test('puts the new one in front; the current one ends with the overlap', () => {
    expect(rotateSecrets([secret('a')], secret('b', NOW + 1), 3_600, NOW + 1)).toEqual([
      secret('b', NOW + 1),
      secret('a', NOW, NOW + 1 + HOUR),
    ]);
  });

  test('is refused while an earlier overlap lasts, and allowed from its end on', () => {
    const secrets = [secret('b'), secret('a', NOW - HOUR, NOW + HOUR)];
    expect(rotateSecrets(secrets, secret('c'), 3_600, NOW + HOUR - 1)).toBe('overlapping');
    expect(rotateSecrets(secrets, secret('c'), 3_600, NOW + HOUR)).toEqual([
      secret('c'),
      secret('b', NOW, NOW + 2 * HOUR),
    ]);
  });

  test('without overlap it ends all others at once, whenever', () => {
    expect(rotateSecrets([secret('b'), secret('a', NOW - HOUR, NOW + HOUR)], secret('c'), 0, NOW)).toEqual([
      secret('c'),
    ]);
  });

  test('that was done already, the answer to its write lost, is done', () => {
    const done = [secret('b'), secret('a', NOW, NOW + HOUR)];
    expect(rotateSecrets(done, secret('b'), 3_600, NOW)).toEqual(done);
  });

  test('at any times leaves one or two secrets alive, the newest first and without end', () => {
    const step = fc.record({
      wait: fc.integer({ min: 0, max: 2 * longestOverlapSeconds }),
      overlapSeconds: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: longestOverlapSeconds })),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        let secrets = [secret('0')];
        let now = NOW;
        for (const [index, { wait, overlapSeconds }] of steps.entries()) {
          now += wait * 1000;
          const rotated = rotateSecrets(secrets, secret(String(index + 1), now), overlapSeconds, now);
          if (rotated === 'overlapping') expect(liveSecrets(secrets, now)).toHaveLength(2);
          else secrets = rotated;
          const live = liveSecrets(secrets, now);
          expect([1, 2]).toContain(live.length);
          expect(live[0]).toBe(secrets[0]);
          expect(live.map(({ expiresAt }) => expiresAt === undefined)).toEqual(live.map((_one, at) => at === 0));
        }
      }),
    );
  });
});

describe('an endpoint', () => {
  const made = { endpointId: 'ep_1', secret: secret('a'), now: NOW };

  test('spec 4.3: is enabled unless it was asked to be disabled, and has what was sent', () => {
    expect(newEndpoint({ url: 'https://example.com' }, made)).toEqual({
      endpointId: 'ep_1',
      url: 'https://example.com',
      disabled: false,
      secrets: [secret('a')],
      createdAt: NOW,
      updatedAt: NOW,
    });
    expect(
      newEndpoint(
        {
          url: 'https://example.com',
          disabled: true,
          filterTypes: ['comment.add', 'comment.add', 'huddle.join'],
          channels: ['b', 'a', 'b'],
          metadata: { a: '1' },
        },
        made,
      ),
    ).toMatchObject({
      disabled: true,
      filterTypes: ['comment.add', 'huddle.join'],
      channels: ['b', 'a'],
      metadata: '{"a":"1"}',
    });
  });

  test('deliveries 2.3: the next change drops secrets whose time is over', () => {
    const secrets = [secret('c'), secret('b', NOW, NOW + 1), secret('a', NOW, NOW)];
    expect(
      changeEndpoint({ ...newEndpoint({ url: 'https://example.com' }, made), secrets }, { disabled: true }, NOW)
        .secrets,
    ).toEqual(secrets.slice(0, 2));
  });
});

describe('spec 4.5, 4.7: a change', () => {
  test('leaves what is stored as it was', () => {
    const advanced = Object.freeze({
      isEnabled: true,
      encryptData: false,
      encodeData: true,
      publicKey: '',
      enableDataProtection: false,
    });
    expect(changeAdvancedConfig(advanced, { encodeData: false })).toEqual({ ...advanced, encodeData: false });
    const basic = Object.freeze({
      useWebhookService: false,
      webhookServiceConfig: Object.freeze({ authToken: '', rawNotificationUrl: '', processedNotificationUrl: '' }),
    });
    expect(changeBasicConfig(basic, { useWebhookService: true }).webhookServiceConfig.triggers).toEqual(
      defaultWebhookTriggers,
    );
    expect(basic.webhookServiceConfig).not.toHaveProperty('triggers');
  });

  test('of any kind, in any order, ends with the last value of each trigger over the defaults', () => {
    const change = fc.record({
      useWebhookService: fc.option(fc.boolean(), { nil: undefined }),
      triggers: fc.option(fc.dictionary(fc.constantFrom(...triggerTypes), fc.boolean(), { maxKeys: 4 }), {
        nil: undefined,
      }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 8 }), (changes) => {
        let config: ReturnType<typeof changeBasicConfig> | undefined;
        let expected: Record<string, boolean> = {};
        for (const { useWebhookService, triggers } of changes) {
          if (useWebhookService && Object.keys(expected).length === 0) expected = { ...defaultWebhookTriggers };
          expected = { ...expected, ...triggers };
          config = changeBasicConfig(config, { useWebhookService, webhookServiceConfig: { triggers } });
          expect(config.webhookServiceConfig.triggers ?? {}).toEqual(expected);
        }
      }),
    );
  });
});

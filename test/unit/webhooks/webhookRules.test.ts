import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { defaultWebhookTriggers, eventTypes, triggerTypes } from '../../../lib/events/rules/catalogue.ts';
import { EventTypeName, TriggerMap } from '../../../lib/events/rules/triggers.ts';
import { changeAdvancedConfig } from '../../../lib/webhooks/rules/advancedConfig.ts';
import { changeBasicConfig } from '../../../lib/webhooks/rules/basicConfig.ts';
import { changeEndpoint, newEndpoint } from '../../../lib/webhooks/rules/endpoints.ts';
import {
  liveSecrets,
  longestOverlapSeconds,
  rotateSecrets,
  type SigningSecret,
} from '../../../lib/webhooks/rules/secrets.ts';
import { requestIssues } from '../../support/requestIssues.ts';

const NOW = Date.UTC(2026, 10, 20);
const secret = (sealed: string, createdAt = NOW, expiresAt?: number): SigningSecret & { rotationId: string } => ({
  sealed,
  createdAt,
  rotationId: `rot_${sealed}`,
  ...(expiresAt !== undefined && { expiresAt }),
});

describe('the catalogue of events', () => {
  test('has each type once, and accepts each as a filter', () => {
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

  test('has a default for every trigger: comments and huddles on, suggestions off', () => {
    const on = triggerTypes.filter(
      (type) => /^(comment|comment_annotation|huddle)\./.test(type) && !type.includes('suggestion'),
    );
    expect(defaultWebhookTriggers).toEqual(Object.fromEntries(triggerTypes.map((type) => [type, on.includes(type)])));
    expect(TriggerMap.safeParse(defaultWebhookTriggers).success).toBe(true);
  });

  test('rejects unknown keys in a trigger map, also __proto__', () => {
    for (const key of ['comment.added', 'execution.completed', 'constructor', '__proto__']) {
      expect(requestIssues(TriggerMap, JSON.parse(`{${JSON.stringify(key)}:true}`))).toMatchObject([{ path: [key] }]);
    }
  });
});

describe('rotateSecrets', () => {
  const HOUR = 3_600_000;

  test('puts the new secret first and ends the current one with the overlap', () => {
    expect(rotateSecrets([secret('a')], secret('b', NOW + 1), 3_600, NOW + 1)).toEqual([
      secret('b', NOW + 1),
      secret('a', NOW, NOW + 1 + HOUR),
    ]);
  });

  test('rejects a rotation during an overlap, and accepts a rotation from the end of the overlap on', () => {
    const secrets = [secret('b'), secret('a', NOW - HOUR, NOW + HOUR)];
    expect(rotateSecrets(secrets, secret('c'), 3_600, NOW + HOUR - 1)).toBe('overlapping');
    expect(rotateSecrets(secrets, secret('c'), 3_600, NOW + HOUR)).toEqual([
      secret('c'),
      secret('b', NOW, NOW + 2 * HOUR),
    ]);
  });

  test('ends all other secrets at once without an overlap', () => {
    expect(rotateSecrets([secret('b'), secret('a', NOW - HOUR, NOW + HOUR)], secret('c'), 0, NOW)).toEqual([
      secret('c'),
    ]);
  });

  test.each([0, 3_600])('keeps the secrets if the rotation was made already, with an overlap of %d s', (overlap) => {
    const done = [secret('b'), secret('a', NOW, NOW + HOUR)];
    expect(rotateSecrets(done, { ...secret('c'), rotationId: 'rot_b' }, overlap, NOW)).toEqual(done);
  });

  test('keeps one or two valid secrets at any time, the newest first and without end', () => {
    const step = fc.record({
      wait: fc.integer({ min: 0, max: 2 * longestOverlapSeconds }),
      overlapSeconds: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: longestOverlapSeconds })),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        let secrets: SigningSecret[] = [secret('0')];
        let now = NOW;
        for (const [index, { wait, overlapSeconds }] of steps.entries()) {
          now += wait * 1000;
          const rotated = rotateSecrets(secrets, secret(String(index + 1), now), overlapSeconds, now);
          if (rotated === 'overlapping') expect(liveSecrets(secrets, now)).toHaveLength(2);
          else secrets = rotated;
          const live = liveSecrets(secrets, now);
          expect([1, 2]).toContain(live.length);
          expect(live[0]).toBe(secrets[0]);
          expect(live.map(({ expiresAt }) => expiresAt === undefined)).toEqual(live.map((_one, index) => index === 0));
        }
      }),
    );
  });
});

describe('newEndpoint and changeEndpoint', () => {
  const made = { endpointId: 'ep_1', secret: secret('a'), now: NOW };

  test('enable a new endpoint by default and keep the sent fields', () => {
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

  test('drop expired secrets with the next change', () => {
    const secrets = [secret('c'), secret('b', NOW, NOW + 1), secret('a', NOW, NOW)];
    expect(
      changeEndpoint({ ...newEndpoint({ url: 'https://example.com' }, made), secrets }, { disabled: true }, NOW)
        .secrets,
    ).toEqual(secrets.slice(0, 2));
  });
});

describe('changeAdvancedConfig and changeBasicConfig', () => {
  test('do not modify the stored config', () => {
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

  test('keep the last value of each field and trigger over the defaults of the first start, in any order of updates', () => {
    const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
    const change = fc.record({
      useWebhookService: maybe(fc.boolean()),
      triggers: maybe(fc.dictionary(fc.constantFrom(...triggerTypes), fc.boolean(), { maxKeys: 4 })),
      authToken: maybe(fc.constantFrom('', 'a', 'b')),
      enableDataProtection: maybe(fc.boolean()),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 8 }), (changes) => {
        let config: ReturnType<typeof changeBasicConfig> | undefined;
        let isOn = false;
        let expected: Record<string, any> = { authToken: '', rawNotificationUrl: '', processedNotificationUrl: '' };
        for (const { useWebhookService, triggers, ...fields } of changes) {
          if (useWebhookService && Object.keys(expected.triggers ?? {}).length === 0)
            expected = { enableDataProtection: false, ...expected, triggers: defaultWebhookTriggers };
          for (const [name, value] of Object.entries(fields)) if (value !== undefined) expected[name] = value;
          if (triggers) expected.triggers = { ...expected.triggers, ...triggers };
          isOn = useWebhookService ?? isOn;
          config = changeBasicConfig(config, { useWebhookService, webhookServiceConfig: { triggers, ...fields } });
          expect(config).toEqual({ useWebhookService: isOn, webhookServiceConfig: expected });
        }
      }),
    );
  });
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readChannel } from '../../../infra/local/live/channels.ts';
import { ChannelNames } from '../../../lib/live/rules/channels.ts';
import { EVENTS_PER_PUBLISH, MAX_EVENT_BYTES, toPublishes, withinLimit } from '../../../lib/live/rules/events.ts';
import { testProperty } from '../../support/testProperty.ts';

const names = new ChannelNames(Buffer.alloc(32, 1));
const document = { tenant: 'key_1', organizationKey: 'org_1', documentKey: 'doc_1', epoch: 1 };
const all = (of: typeof document) => Object.values(names.ofDocument(of));

describe('ChannelNames', () => {
  testProperty(
    'returns paths that AppSync accepts, for any ids',
    [fc.string(), fc.string(), fc.string(), fc.nat()],
    (tenant, organizationKey, documentKey, epoch) => {
      const paths = [
        ...all({ tenant, organizationKey, documentKey, epoch }),
        names.ofUser({ tenant, userKey: documentKey, tokenRevocations: epoch }),
      ];
      for (const path of paths) {
        expect(readChannel(path, { pattern: false })?.path).toBe(path);
        for (const segment of path.split('/').slice(1)) expect(segment).toMatch(/^[A-Za-z0-9-]{1,50}$/);
      }
    },
  );

  test.each([
    ['tenant', { tenant: 'key_2' }],
    ['organization', { organizationKey: 'org_2' }],
    ['document', { documentKey: 'doc_2' }],
    ['access epoch', { epoch: 2 }],
  ])('returns other channels for another %s', (_what, other) => {
    expect(all({ ...document, ...other })).not.toEqual(expect.arrayContaining(all(document)));
    expect(names.ofDocument({ ...document, ...other }).document).not.toBe(names.ofDocument(document).document);
  });

  test.each([
    ['tenant', { tenant: 'key_2' }],
    ['user', { userKey: 'usr_2' }],
    ['revocation of all user tokens', { tokenRevocations: 1 }],
  ])('returns another channel of a user for another %s', (_what, other) => {
    const ada = { tenant: 'key_1', userKey: 'usr_1', tokenRevocations: 0 };
    expect(names.ofUser({ ...ada, ...other })).not.toBe(names.ofUser(ada));
  });

  test('returns other channels with another secret', () => {
    const others = new ChannelNames(Buffer.alloc(32, 2));
    expect(others.ofDocument(document).document).not.toBe(names.ofDocument(document).document);
  });

  test('has no id in a name', () => {
    expect(all(document).join()).not.toMatch(/key_1|org_1|doc_1/);
  });
});

describe('toPublishes', () => {
  testProperty(
    'returns all events in their order, at most five in a publish',
    [fc.array(fc.record({ n: fc.nat() }))],
    (events) => {
      const publishes = toPublishes(events);
      expect(publishes.flat().map((text) => JSON.parse(text))).toEqual(events);
      for (const texts of publishes) {
        expect(texts.length).toBeGreaterThan(0);
        expect(texts.length).toBeLessThanOrEqual(EVENTS_PER_PUBLISH);
      }
    },
  );
});

describe('withinLimit', () => {
  test('leaves out a payload that makes the event too large', () => {
    const update = 'x'.repeat(MAX_EVENT_BYTES);
    expect(withinLimit({ type: 'crdt.update' }, { update })).toEqual({ type: 'crdt.update' });
    expect(withinLimit({ type: 'crdt.update' }, { update: 'small' })).toEqual({ type: 'crdt.update', update: 'small' });
  });
});

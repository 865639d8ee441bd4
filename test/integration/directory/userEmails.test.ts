import { beforeEach, describe, expect, test } from '@jest/globals';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { MailSystem } from '../../support/mailSystem.ts';

const refused = { success: false, id: '', message: 'email must be an address that can receive mail.' };

const { engine, customer } = acmeWorld({ documents: ['nda'] });

const add = (...users: object[]) => customer.addUsers(users);
const update = (...users: object[]) => customer.untyped('/v2/users/update', { organizationId: 'acme', users });
const emails = async () =>
  Object.fromEntries(
    (await customer.ok('/v2/users/get', { organizationId: 'acme' })).map(({ userId, email }: any) => [userId, email]),
  );

describe.each([
  ['users/add', add],
  ['users/update', update],
] as const)('%s', (name, call) => {
  beforeEach(async () => {
    if (name === 'users/update') await add({ userId: 'ada', email: 'ada@example.com' }, { userId: 'grace' });
  });

  test('fails only for the user with an address that cannot receive mail', async () => {
    const before = await emails();
    const users = [
      { userId: 'ada', name: 'Ada', email: 'ada@localhost' },
      { userId: 'grace', email: 'grace@example.com' },
    ];
    expect(await call(...users)).toMatchObject({ ada: refused, grace: { success: true } });
    expect(await emails()).toEqual({ ...before, grace: 'grace@example.com' });
  });

  test('stores an international domain as punycode and the local part as sent', async () => {
    expect(
      await call(
        { userId: 'ada', email: ' Ada.L+notes@Bücher.Example ' },
        { userId: 'grace', email: 'Grace@Пример.рф' },
      ),
    ).toMatchObject({ ada: { success: true }, grace: { success: true } });
    expect(await emails()).toEqual({ ada: 'Ada.L+notes@xn--bcher-kva.example', grace: 'Grace@xn--e1afmkfd.xn--p1ai' });
  });
});

test('a mail to a user with an international domain goes to the punycode address', async () => {
  const system = new MailSystem(engine, customer);
  await customer.ok('/v2/workspace/emailconfig/update', { useEmailService: true });
  await add({ userId: 'grace', email: 'grace@bücher.example' });
  const guest = { userId: 'guest', email: 'guest@пример.рф' };
  await customer.ok('/v2/commentannotations/add', {
    ...nda,
    commentAnnotations: [
      {
        commentData: [
          { commentText: 'Hi', from: { userId: 'ada' }, to: [{ userId: 'grace' }, guest], triggerNotification: true },
        ],
      },
    ],
  });
  await system.deliver();
  expect(system.mailed.sort()).toEqual(['grace@xn--bcher-kva.example', 'guest@xn--e1afmkfd.xn--p1ai']);
});

import { beforeEach, describe, expect, test } from '@jest/globals';
import { acmeWorld, forAllTests } from '../../support/acmeWorld.ts';
import { startFaults } from '../../support/faults.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { JobRunner } from '../../support/jobRunner.ts';
import { post } from '../../support/requests.ts';
import { newUser, type TestUser } from '../../support/userTokens.ts';
import { newWebhookCustomer, paths } from '../../support/webhooks.ts';
import { newWorkspace } from '../../support/workspaces.ts';

const { customer, itemsOf } = acmeWorld({ newCustomer: newWebhookCustomer });
const faults = forAllTests(startFaults);
const key = { 'idempotency-key': 'first' };

/**
 * Makes a call. DynamoDB carries out its transaction, or another `operation`, but does not answer. Returns the answers to
 * two repetitions of the call.
 */
async function repeatInterrupted<A extends { status: number }>(
  call: () => Promise<A>,
  operation = 'TransactWriteItems',
): Promise<[A, A]> {
  faults.loseAnswer(operation);
  expect((await call()).status).toBe(503);
  faults.heal();
  return [await call(), await call()];
}

test.each([[{}], [{ uid: 'crm' }]])('endpoints/create with %j creates one endpoint', async (data) => {
  const answers = await repeatInterrupted(() =>
    customer.call(paths.create, { url: 'https://example.com/hook', ...data }, key),
  );
  const { endpoints } = await customer.ok(paths.list, {});
  expect(endpoints).toHaveLength(1);
  for (const { status, body } of answers) expect([status, body.result.data]).toEqual([200, endpoints[0]]);
});

test.each([0, 60])(
  'secret/rotate with an overlap of %d s rotates once, and returns the new secret',
  async (overlapSeconds) => {
    const { id: endpointId } = await customer.ok(paths.create, { url: 'https://example.com/hook' });
    const { secret: before } = await customer.ok(paths.getSecret, { endpointId });
    const secrets: string[] = [];
    const answers = await repeatInterrupted(async () => {
      const answer = await customer.call(paths.rotate, { endpointId, overlapSeconds }, key);
      secrets.push((await customer.ok(paths.getSecret, { endpointId })).secret);
      return answer;
    });
    const [secret] = secrets as [string];
    expect(secret).not.toBe(before);
    expect(secrets).toEqual([secret, secret, secret]);
    for (const { status, body } of answers) expect([status, body.result?.data]).toEqual([200, { endpointId, secret }]);
  },
);

describe.each([[{}], [{ organizationIds: ['acme'] }]])('users/data/delete with %j', (where) => {
  const erase = (userId: string) => customer.call('/v2/users/data/delete', { userIds: [userId], ...where }, key);
  const read = (user: TestUser) =>
    user.status('/v2/commentannotations/get', { organizationId: 'acme', documentIds: ['nda'] });
  const newReader = (userId: string) =>
    newUser(customer, userId, [{ type: 'document', id: 'nda', organizationId: 'acme' }]);
  beforeEach(async () => {
    await customer.addDocuments(['nda']);
    await customer.setAccess('restricted', ['nda']);
  });

  test('ends user tokens if the call is repeated', async () => {
    const [ada, ben] = [await newReader('ada'), await newReader('ben')];
    const [first, second] = await repeatInterrupted(() => erase('ada'));
    expect(first.status).toBe(200);
    expect(second.body).toEqual(first.body);
    expect([await read(ada), await read(ben)]).toEqual(['PERMISSION_DENIED', 'OK']);
  });

  test('ends user tokens by its job, and keeps a user who was added again', async () => {
    const [ada, ben] = [await newReader('ada'), await newReader('ben')];
    faults.loseAnswer('TransactWriteItems');
    expect((await erase('ada')).status).toBe(503);
    faults.heal();
    await customer.addUsers([{ userId: 'ada', name: 'Ada again' }, 'new']);
    const later = await newReader('new');
    const [job] = await itemsOf('Job');
    await new JobRunner(Date.now()).finish({ tenant: customer.apiKey, jobId: job!.jobId });
    expect([await read(ada), await read(ben), await read(later)]).toEqual(['PERMISSION_DENIED', 'OK', 'OK']);
    expect(await customer.ok('/v2/users/get', { organizationId: 'acme', userIds: ['ada'] })).toMatchObject([
      { name: 'Ada again' },
    ]);
  });
});

test('apikey/create creates one API key, and returns its auth token', async () => {
  const workspace = await newWorkspace();
  const create = handlerOf('/v2/workspace/apikey/create');
  const data = { ownerEmail: workspace.ownerEmail, type: 'testing', createAuthToken: true };
  const answers = await repeatInterrupted(() => post(create, { ...workspace.headers, ...key }, data));
  const list = handlerOf('/v2/workspace/apikeys/get');
  const { data: apiKeys } = (await post(list, workspace.headers, {})).body.result;
  expect(apiKeys).toHaveLength(2);
  const { apiKey, authToken } = answers[0].body.result.data;
  expect(apiKeys.map(({ id }: any) => id)).toContain(apiKey);
  expect(answers[1].body).toEqual(answers[0].body);
  const getConfig = handlerOf(paths.getConfig);
  expect((await post(getConfig, { 'x-svc-api-key': apiKey, 'x-svc-auth-token': authToken }, {})).status).toBe(200);
});

test('memory/judgments/add answers that a judgment without an id was added', async () => {
  await customer.addDocuments(['nda']);
  const judgment = { actionUser: { userId: 'ada' }, decision: 'accept', reasoning: 'The price is fair.' };
  // The call is interrupted after it has stored the judgment, when it removes its job.
  const answers = await repeatInterrupted(
    () => customer.call('/v2/memory/judgments/add', { organizationId: 'acme', judgments: [judgment] }, key),
    'DeleteItem',
  );
  for (const { body } of answers)
    expect(Object.values(body.result.data)).toMatchObject([{ success: true, message: 'Judgment added.' }]);
});

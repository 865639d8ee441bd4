import { describe, expect, test } from '@jest/globals';
import { registeredEndpoints } from '../../../infra/build/registry.ts';
import { smokeOptions } from '../../../infra/commands/smoke.ts';
import { exampleOrder, ExampleValues } from '../../../infra/commands/smoke/examples.ts';

describe('smokeOptions', () => {
  test('returns the defaults', () => {
    expect(smokeOptions(['https://api.example.com'])).toEqual({
      baseUrl: 'https://api.example.com',
      credentialsFile: undefined,
      receiver: undefined,
      alarmStack: undefined,
      serviceName: 'svc',
    });
  });

  test('returns all options', () => {
    const args = ['https://api.example.com', '--credentials', 'a.json', '--receiver', 'https://hooks.example.com'];
    expect(smokeOptions([...args, '--alarm', '--stack', 'Other', '--service-name', 'notes'])).toEqual({
      baseUrl: 'https://api.example.com',
      credentialsFile: 'a.json',
      receiver: 'https://hooks.example.com',
      alarmStack: 'Other',
      serviceName: 'notes',
    });
  });

  test.each([
    [[], 'Give the address of the API'],
    [['api.example.com'], 'Give the address of the API'],
    [['https://api.example.com', 'more'], 'Give the address of the API'],
    [['https://api.example.com', '--receiver', 'hooks'], '--receiver must be an http(s) address'],
    [['https://api.example.com', '--alarms'], 'alarms'],
  ])('rejects %j', (args, problem) => {
    expect(() => smokeOptions(args)).toThrow(problem);
  });
});

test('the order of examples contains every endpoint once', () => {
  const paths = registeredEndpoints()
    .filter(({ twinOf }) => twinOf === undefined)
    .map(({ path }) => path as string);
  expect(exampleOrder.toSorted()).toEqual(paths.toSorted());
});

describe('the values of examples', () => {
  const exampleId = 'agt_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ';

  test('replace generated ids in values and keys after an answer had them', () => {
    const values = new ExampleValues();
    values.recordAnswer({ data: { [exampleId]: { success: true } } }, { data: { agt_new: { success: true } } });
    expect(values.fill({ agentId: exampleId, agents: [exampleId], [exampleId]: 1 })).toEqual({
      agentId: 'agt_new',
      agents: ['agt_new'],
      agt_new: 1,
    });
  });

  test('keep fixed values when an answer has others, so no example changes another API key', () => {
    const values = new ExampleValues({ [exampleId]: 'own' });
    values.recordAnswer({ id: exampleId }, { id: 'foreign' });
    expect(values.fill(exampleId)).toBe('own');
  });
});

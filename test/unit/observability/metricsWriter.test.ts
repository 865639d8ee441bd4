import { afterEach, expect, jest, test } from '@jest/globals';
import { METRICS_SERVICE, metricsWriter } from '../../../lib/observability/metricsWriter.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

/** Returns the dimension `service` of a metric that the writer of this service writes. */
function serviceOf(serviceName: string, environment: NodeJS.ProcessEnv): unknown {
  jest.replaceProperty(process, 'env', environment);
  const writer = metricsWriter(serviceName);
  writer.addMetric('Calls', 'Count', 1);
  const { service } = writer.serializeMetrics();
  writer.clearMetrics();
  return service;
}

test('metrics have the name of the service, or the value of the deployment if the function has one', () => {
  expect(serviceOf('one', {})).toBe('one');
  expect(serviceOf('two', { [METRICS_SERVICE]: 'Staging/svc' })).toBe('Staging/svc');
});

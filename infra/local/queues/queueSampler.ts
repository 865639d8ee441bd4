import type { Measurements } from '../metrics/measurements.ts';
import type { QueueStore } from './queueStore.ts';

const SAMPLE_MILLISECONDS = 5_000;

/** Records the levels at once, and then every five seconds. Returns a function that stops this. */
export function sampleQueues(
  queues: Pick<QueueStore, 'levels'>,
  measurements: Pick<Measurements, 'recordQueueLevel'>,
): () => void {
  const sample = () => {
    for (const [name, level] of queues.levels()) measurements.recordQueueLevel(name, level);
  };
  sample();
  const timer = setInterval(sample, SAMPLE_MILLISECONDS);
  timer.unref();
  return () => clearInterval(timer);
}

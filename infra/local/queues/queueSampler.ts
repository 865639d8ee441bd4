import type { Measurements } from '../metrics/measurements.ts';
import type { QueueStore } from './queueStore.ts';

const SAMPLE_MILLISECONDS = 5_000;

/** Measures what lies in the queues, now and every five seconds; gives how to stop it. */
export function sampleQueues(
  queues: Pick<QueueStore, 'levels'>,
  measurements: Pick<Measurements, 'queue'>,
): () => void {
  const sample = () => {
    for (const [name, level] of queues.levels()) measurements.queue(name, level);
  };
  sample();
  const timer = setInterval(sample, SAMPLE_MILLISECONDS);
  timer.unref();
  return () => clearInterval(timer);
}

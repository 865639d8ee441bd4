import type { Measurements } from '../metrics/measurements.ts';
import type { QueueStore } from './queueStore.ts';

const SAMPLE_MILLISECONDS = 5_000;

/**
 * Records the number and age of messages in each queue: once at the call, and after that every five seconds. Returns a
 * function that stops the recording.
 */
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

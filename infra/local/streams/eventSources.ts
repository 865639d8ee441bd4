import type { QueueSourceModel, ScheduleModel } from '../assembly/eventSourceModels.ts';
import type { FunctionModel } from '../assembly/functionModel.ts';
import { Schedule } from '../functions/schedule.ts';
import type { Measurements } from '../metrics/measurements.ts';
import { type Messages, QueueSource } from '../queues/queueSource.ts';
import type { QueueStore } from '../queues/queueStore.ts';
import type { OpenStream } from './streams.ts';
import { StreamSource } from './streamSource.ts';

export interface EventSourcesOptions {
  readonly queueSources: readonly QueueSourceModel[];
  readonly schedules: readonly ScheduleModel[];
  readonly streams: readonly OpenStream[];
  /** The queues for descriptions of skipped records. */
  readonly queues: Pick<QueueStore, 'send'>;
  readonly messages: Messages;
  readonly measurements: Pick<Measurements, 'recordIteratorAge'>;
  /** `payload` and the result are JSON texts. */
  readonly invoke: (model: FunctionModel, payload: string) => Promise<string>;
  readonly report: (line: string) => void;
}

export interface EventSources {
  wakeStreams(): void;
  /**
   * Waits for running batches for at most `patienceMilliseconds`. The next run processes unfinished records and
   * messages again.
   */
  stop(patienceMilliseconds: number): Promise<void>;
}

export function startEventSources({
  queueSources,
  schedules,
  streams,
  queues,
  messages,
  measurements,
  invoke,
  report,
}: EventSourcesOptions): EventSources {
  let stopping = false;
  const invoker = (target: FunctionModel) => async (event: object) => {
    try {
      return await invoke(target, JSON.stringify(event));
    } catch (error) {
      // No event source reports this error.
      if (!stopping) report(`${target.name} failed: ${(error as Error).message}`);
      throw error;
    }
  };
  const streamSources = streams.map(
    ({ model, reader, save }) =>
      new StreamSource({
        model,
        reader,
        save,
        invoke: invoker(model.function),
        onSkipped(description) {
          report(
            `${model.function.name} failed ${model.maxRetries + 1} times for the same records, which are now skipped`,
          );
          if (model.onFailure) queues.send(model.onFailure.name, [{ body: JSON.stringify(description) }]);
        },
        measureAge: (milliseconds) => measurements.recordIteratorAge(model.function.name, milliseconds),
        onError: (error) => report(`The stream of ${model.table} cannot be read: ${(error as Error).message}`),
      }),
  );
  const running = [
    ...streamSources,
    ...queueSources.map((model) => new QueueSource(model, messages, invoker(model.function))),
    ...schedules.map((model) => new Schedule(model, invoker(model.function))),
  ];
  return {
    wakeStreams() {
      for (const { shared } of streams) shared.expire();
      for (const source of streamSources) source.wake();
    },
    async stop(patienceMilliseconds) {
      stopping = true;
      const { promise: timedOut, resolve }: PromiseWithResolvers<void> = Promise.withResolvers();
      const timer = setTimeout(resolve, patienceMilliseconds);
      await Promise.race([Promise.all(running.map((source) => source.stop())), timedOut]);
      clearTimeout(timer);
    },
  };
}

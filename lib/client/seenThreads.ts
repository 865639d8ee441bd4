export interface SeenThread {
  readonly success: boolean;
  readonly message: string;
}

/** The service takes at most this many threads in a call. */
const MAX_THREADS = 30;
const PAUSE_MILLISECONDS = 100;

type Outcomes = Readonly<Record<string, SeenThread>>;

/** Reports together which threads the user sees within a moment. */
export class SeenThreads {
  readonly #send: (annotationIds: string[]) => Promise<Outcomes>;
  readonly #waiting = new Map<string, PromiseWithResolvers<SeenThread>>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(send: (annotationIds: string[]) => Promise<Outcomes>) {
    this.#send = send;
  }

  add(annotationId: string): Promise<SeenThread> {
    const waiting = this.#waiting.get(annotationId) ?? Promise.withResolvers<SeenThread>();
    this.#waiting.set(annotationId, waiting);
    if (this.#waiting.size >= MAX_THREADS) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), PAUSE_MILLISECONDS);
    return waiting.promise;
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const sent = [...this.#waiting];
    this.#waiting.clear();
    if (sent.length === 0) return;
    this.#send(sent.map(([annotationId]) => annotationId)).then(
      (outcomes) => {
        for (const [annotationId, { resolve }] of sent) resolve(outcomes[annotationId] as SeenThread);
      },
      (error: unknown) => {
        for (const [, { reject }] of sent) reject(error);
      },
    );
  }
}

/** What came of asking a model about a part of a file. */
export type ModelAnswer =
  /** It used the tool, with this input; `cutOff` when it would have gone on. */
  | { readonly outcome: 'answered'; readonly input: unknown; readonly cutOff: boolean }
  /** It did not use the tool, for the reason that it stopped for. */
  | { readonly outcome: 'nothing'; readonly stopped: string }
  /** There is no answer: too many calls, no time left, no access to the model, or it does not take what it was sent. */
  | { readonly outcome: 'failed'; readonly why: 'busy' | 'late' | 'forbidden' | 'refused' };

/** What a model is asked: to use one tool, once. */
export interface Question {
  readonly system: string;
  readonly task: string;
  /** What the task is about: not to be trusted. */
  readonly file: { readonly text: string } | { readonly pdf: Uint8Array };
  readonly tool: {
    readonly name: string;
    readonly description: string;
    readonly schema: Readonly<Record<string, unknown>>;
  };
  readonly mostTokens: number;
}

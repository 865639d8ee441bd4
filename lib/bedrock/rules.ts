/** All embedding models return vectors of this length. */
export const DIMENSIONS = 512;

export const providers = ['claude', 'nova'] as const;
export type Provider = (typeof providers)[number];

export interface Question {
  readonly system: string;
  readonly task: string;
  /** The content of a file is untrusted. */
  readonly file: { readonly text: string } | { readonly pdf: Uint8Array };
  readonly tool: {
    readonly name: string;
    readonly description: string;
    readonly schema: Readonly<Record<string, unknown>>;
  };
  readonly maxTokens: number;
}

/**
 * `late`: no answer in time. `refused`: the model rejected the input. `forbidden`: an operator must change the access
 * or the quota. `busy`: any other failure.
 */
export type CallFailure = 'busy' | 'late' | 'forbidden' | 'refused';

export type ModelAnswer =
  /** Claude can use the tool several times in one answer. `cutOff` means that the answer reached a length limit. */
  | { readonly outcome: 'answered'; readonly inputs: readonly unknown[]; readonly cutOff: boolean }
  | { readonly outcome: 'nothing'; readonly stopped: string }
  | { readonly outcome: 'failed'; readonly why: CallFailure };

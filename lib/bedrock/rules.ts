/** Of each vector, the same for all embedding models. */
export const DIMENSIONS = 512;

export const providers = ['claude', 'nova'] as const;
export type Provider = (typeof providers)[number];

export interface Question {
  readonly system: string;
  readonly task: string;
  /** Untrusted. */
  readonly file: { readonly text: string } | { readonly pdf: Uint8Array };
  readonly tool: {
    readonly name: string;
    readonly description: string;
    readonly schema: Readonly<Record<string, unknown>>;
  };
  readonly maxTokens: number;
}

/**
 * Why a call of a model failed:
 *
 * - `busy`: throttled or unavailable
 * - `late`: no answer before the deadline
 * - `forbidden`: the service may not call the model
 * - `refused`: the model rejected the input
 */
export type CallFailure = 'busy' | 'late' | 'forbidden' | 'refused';

export type ModelAnswer =
  /**
   * `inputs` of all uses of the tool: Claude can use it several times in one answer. `cutOff` if the answer reached a
   * length limit.
   */
  | { readonly outcome: 'answered'; readonly inputs: readonly unknown[]; readonly cutOff: boolean }
  | { readonly outcome: 'nothing'; readonly stopped: string }
  | { readonly outcome: 'failed'; readonly why: CallFailure };

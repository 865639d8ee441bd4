/** A definition of a graph or an alarm that the local run does not support. */
export class UnsupportedDefinition extends Error {
  override readonly name = 'UnsupportedDefinition';
}

/** Splits a text into tokens. */
export class Scanner {
  readonly #text: string;
  readonly #tokens: string[] = [];
  #next = 0;

  /** `pattern` must be sticky. Its first group is the token. */
  constructor(text: string, pattern: RegExp) {
    this.#text = text;
    const trimmed = text.trimEnd();
    const sticky = new RegExp(pattern);
    while (sticky.lastIndex < trimmed.length) {
      const at = sticky.lastIndex;
      const token = sticky.exec(trimmed)?.[1];
      if (token === undefined) throw this.problem(`"${trimmed.slice(at).trim()}" cannot be read`);
      this.#tokens.push(token);
    }
  }

  /** Returns the next token. Throws if it differs from the expected one. */
  take(expected?: string): string {
    const token = this.#tokens[this.#next++];
    if (token === undefined) throw this.problem(`${expected ?? 'something'} is missing at the end`);
    if (expected !== undefined && token !== expected) throw this.problem(`"${token}" stands where ${expected} must`);
    return token;
  }

  /** Returns and consumes the next token if it is one of these. */
  takeOneOf<Token extends string>(tokens: readonly Token[]): Token | undefined {
    const found = tokens.find((token) => token === this.#tokens[this.#next]);
    if (found !== undefined) this.#next++;
    return found;
  }

  end(): void {
    const left = this.#tokens.slice(this.#next);
    if (left.length > 0) throw this.problem(`"${left.join(' ')}" is left over`);
  }

  problem(what: string): UnsupportedDefinition {
    return new UnsupportedDefinition(`${what}, in: ${this.#text}`);
  }
}

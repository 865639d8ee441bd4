/** A definition of a graph or an alarm that the local run does not support. */
export class UnsupportedDefinition extends Error {
  override readonly name = 'UnsupportedDefinition';
}

/** Splits a text into tokens, which a parser then takes one by one. */
export class Scanner {
  readonly #text: string;
  readonly #tokens: string[] = [];
  #next = 0;

  /** `pattern` must have the flag `y` (sticky). Its first group is the token. */
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

  /** Consumes and returns the next token. Throws an UnsupportedDefinition if it differs from `expected`, or at the end. */
  take(expected?: string): string {
    const token = this.#tokens[this.#next++];
    if (token === undefined) throw this.problem(`${expected ?? 'something'} is missing at the end`);
    if (expected !== undefined && token !== expected) throw this.problem(`"${token}" is in the place of ${expected}`);
    return token;
  }

  /** Consumes and returns the next token if it is one of `tokens`. Otherwise returns undefined. */
  takeOneOf<Token extends string>(tokens: readonly Token[]): Token | undefined {
    const nextToken = tokens.find((token) => token === this.#tokens[this.#next]);
    if (nextToken !== undefined) this.#next++;
    return nextToken;
  }

  /** Throws an UnsupportedDefinition if a token remains. */
  end(): void {
    const remaining = this.#tokens.slice(this.#next);
    if (remaining.length > 0) throw this.problem(`"${remaining.join(' ')}" is left over`);
  }

  problem(reason: string): UnsupportedDefinition {
    return new UnsupportedDefinition(`${reason}, in: ${this.#text}`);
  }
}

/** The local run does not support a definition of the template. */
export class UnsupportedDefinition extends Error {
  override readonly name = 'UnsupportedDefinition';
}

export class Scanner {
  readonly #text: string;
  readonly #tokens: string[] = [];
  #next = 0;

  /** `pattern` has the flag `y`. Its first group matches a token. */
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

  /** Takes the next token. Throws UnsupportedDefinition if there is none, or if it differs from `expected`. */
  take(expected?: string): string {
    const token = this.#tokens[this.#next++];
    if (token === undefined) throw this.problem(`${expected ?? 'something'} is missing at the end`);
    if (expected !== undefined && token !== expected) throw this.problem(`"${token}" is in the place of ${expected}`);
    return token;
  }

  takeOneOf<Token extends string>(tokens: readonly Token[]): Token | undefined {
    const nextToken = tokens.find((token) => token === this.#tokens[this.#next]);
    if (nextToken !== undefined) this.#next++;
    return nextToken;
  }

  end(): void {
    const remaining = this.#tokens.slice(this.#next);
    if (remaining.length > 0) throw this.problem(`"${remaining.join(' ')}" is left over`);
  }

  problem(reason: string): UnsupportedDefinition {
    return new UnsupportedDefinition(`${reason}, in: ${this.#text}`);
  }
}

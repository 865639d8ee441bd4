/** Something in a definition of a graph or an alarm that is not known here, in words. */
export class NotUnderstood extends Error {
  override readonly name = 'NotUnderstood';
}

/** Takes a text apart into tokens, one after the other. */
export class Scanner {
  readonly #text: string;
  readonly #tokens: string[] = [];
  #next = 0;

  /** `pattern` is sticky, and its first group is a token. */
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

  /** The next token, which must be the expected one if one is given. */
  take(expected?: string): string {
    const token = this.#tokens[this.#next++];
    if (token === undefined) throw this.problem(`${expected ?? 'something'} is missing at the end`);
    if (expected !== undefined && token !== expected) throw this.problem(`"${token}" stands where ${expected} must`);
    return token;
  }

  /** The next token if it is one of these; otherwise it stays. */
  takeOneOf<Token extends string>(tokens: readonly Token[]): Token | undefined {
    const found = tokens.find((token) => token === this.#tokens[this.#next]);
    if (found !== undefined) this.#next++;
    return found;
  }

  end(): void {
    const left = this.#tokens.slice(this.#next);
    if (left.length > 0) throw this.problem(`"${left.join(' ')}" is left over`);
  }

  problem(what: string): NotUnderstood {
    return new NotUnderstood(`${what}, in: ${this.#text}`);
  }
}

/**
 * Finds regular expressions whose matching can take more than linear time. An expression is converted into an
 * automaton of its characters (Glushkov). Backtracking is polynomial or worse when the rest after a loop can fail and
 * one of these holds: the same text can be split between two loops in many ways, or can pass one loop in two ways. An
 * unanchored expression has one more loop: the search for its start.
 */

/** One character of the expression, or the search for the start of a match, which accepts any character. */
interface Position {
  matches(character: string): boolean;
}

/** A part of an expression. `unguarded` positions end the part without a following assertion. */
interface Part {
  readonly nullable: 'no' | 'guarded' | 'free';
  readonly first: readonly number[];
  readonly last: ReadonlyMap<number, 'guarded' | 'free'>;
  readonly hasLoop: boolean;
}

/** Repetitions up to this count are expanded. A higher count is treated as a loop. */
const WRITTEN_OUT = 16;
const ASSERTIONS = ['$', '\\b', '\\B'];
const SAMPLES = [
  ...Array.from({ length: 0x300 }, (_each, code) => String.fromCodePoint(code)),
  '\u0300',
  '\u0660',
  '\u05d0',
  '\u0e01',
  '\u1e9e',
  '\u2000',
  '\u2028',
  '\u2029',
  '\u202a',
  '\u212a',
  '\u3000',
  '\u3042',
  '\u30a2',
  '\u4e00',
  '\ud800',
  '\udc00',
  '\ufeff',
  '\uffff',
  '\u{1f600}',
  '\u{10000}',
];

/**
 * Returns why an expression can take more than linear time, or undefined. Throws for syntax that the analysis does not
 * support.
 */
export function slowness(regex: RegExp): string | undefined {
  return new Automaton(regex).slowness();
}

class Automaton {
  readonly #regex: RegExp;
  readonly #positions: Position[] = [];
  readonly #follow: number[][] = [];
  readonly #accepting: ReadonlySet<number>;
  #at = 0;
  #isSearch = false;

  constructor(regex: RegExp) {
    this.#regex = regex;
    const fromStart = this.#read();
    const last = new Map(fromStart.last);
    if (!regex.sticky) {
      this.#isSearch = true;
      const search = this.#position(() => true);
      this.#link([search], [search]);
      const later = this.#read();
      this.#link([search], later.first);
      for (const [position, guard] of later.last) last.set(position, guard);
    }
    this.#accepting = new Set([...last].flatMap(([position, guard]) => (guard === 'free' ? position : [])));
  }

  slowness(): string | undefined {
    const twice = this.#follow.findIndex((next) => new Set(next).size < next.length);
    if (twice >= 0) return 'a loop is directly in another loop';
    const steps = this.#steps();
    const loops = this.#positions.map((_each, at) => at).filter((at) => reaches(steps, [at], [at]));
    for (const q of loops) {
      if (this.#accepting.has(q)) continue;
      if (isAmbiguous(steps, q)) return 'a loop can pass the same text in two ways';
      for (const p of loops) {
        if (p !== q && reaches(steps, [p], [q]) && reaches(steps, [p, p, q], [p, q, q]))
          return 'two loops, or a loop and the search for the start, can share the same text';
      }
    }
    return undefined;
  }

  /** Returns the transitions of each position, for each class of characters that the expression distinguishes. */
  #steps(): Steps {
    const classes = new Map<string, Steps[number]>();
    for (const sample of SAMPLES) {
      const matching = this.#positions.map((position) => position.matches(sample));
      const key = matching.map(Number).join('');
      if (!classes.has(key))
        classes.set(
          key,
          this.#follow.map((next) => next.filter((at) => matching[at])),
        );
    }
    return [...classes.values()];
  }

  #read(): Part {
    this.#at = 0;
    const part = this.#alternatives();
    if (this.#at < this.#regex.source.length) throw this.#unknown();
    return part;
  }

  #alternatives(): Part {
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    return {
      nullable: parts.some(({ nullable }) => nullable === 'free')
        ? 'free'
        : parts.some(({ nullable }) => nullable === 'guarded')
          ? 'guarded'
          : 'no',
      first: parts.flatMap(({ first }) => first),
      last: new Map(parts.flatMap(({ last }) => [...last])),
      hasLoop: parts.some(({ hasLoop }) => hasLoop),
    };
  }

  #sequence(): Part {
    let part = EMPTY;
    while (this.#at < this.#regex.source.length && !'|)'.includes(this.#regex.source[this.#at]!))
      part = this.#joined(part, this.#term());
    return part;
  }

  #joined(before: Part, after: Part): Part {
    this.#link(before.last.keys(), after.first);
    const passed = [...before.last].map(
      ([position, guard]) => [position, after.nullable === 'guarded' ? 'guarded' : guard] as const,
    );
    return {
      nullable:
        before.nullable === 'no' || after.nullable === 'no'
          ? 'no'
          : before.nullable === 'free' && after.nullable === 'free'
            ? 'free'
            : 'guarded',
      first: before.nullable === 'no' ? before.first : [...before.first, ...after.first],
      last: new Map([...(after.nullable === 'no' ? [] : passed), ...after.last]),
      hasLoop: before.hasLoop || after.hasLoop,
    };
  }

  #term(): Part {
    const from = this.#at;
    const once = this.#atom();
    const counts = this.#match(/(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y);
    if (!counts) return once;
    const [written, exactly, comma, most] = counts;
    const least = exactly === undefined ? (written.startsWith('+') ? 1 : 0) : Number(exactly);
    const limit =
      exactly === undefined
        ? written.startsWith('?')
          ? 1
          : Infinity
        : comma === ''
          ? least
          : most === ''
            ? Infinity
            : Number(most);
    const after = this.#at;
    const again = () => {
      this.#at = from;
      return this.#atom();
    };
    let part: Part = EMPTY;
    const copies = Math.min(Math.max(least, limit === Infinity ? 1 : limit), WRITTEN_OUT);
    for (let copy = 0; copy < copies; copy++) {
      const next = copy === 0 ? once : again();
      const isLast = copy === copies - 1;
      const loops = isLast && (limit === Infinity || limit > WRITTEN_OUT);
      if (loops) this.#link(next.last.keys(), next.first);
      const isOptional = copy >= least || (loops && least === 0);
      part = this.#joined(part, {
        ...next,
        nullable: isOptional ? 'free' : next.nullable,
        hasLoop: next.hasLoop || loops,
      });
    }
    this.#at = after;
    return part;
  }

  #atom(): Part {
    const { source } = this.#regex;
    const assertion = ASSERTIONS.find((text) => source.startsWith(text, this.#at));
    if (assertion) {
      this.#at += assertion.length;
      return { ...EMPTY, nullable: 'guarded' };
    }
    if (this.#take('^'))
      return this.#isSearch && !this.#regex.multiline
        ? { ...EMPTY, nullable: 'no' }
        : { ...EMPTY, nullable: 'guarded' };
    const around = this.#match(/\(\?<?[=!]/y);
    if (around) {
      const kept = this.#positions.length;
      const { hasLoop } = this.#group();
      this.#positions.length = kept;
      this.#follow.length = kept;
      if (hasLoop) throw new Error(`${String(this.#regex)} has a loop in a lookaround`);
      return { ...EMPTY, nullable: 'guarded' };
    }
    if (this.#match(/\((?:\?:|\?<\w+>)?/y)) return this.#group();
    return this.#character();
  }

  #group(): Part {
    const part = this.#alternatives();
    if (!this.#take(')')) throw this.#unknown();
    return part;
  }

  #character(): Part {
    const [text] =
      this.#match(
        /\[(?:\\.|[^\]\\])*\]|\\[pPu]\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[^1-9ck]|\.|[^\\()[\]{}*+?|^$]/y,
      ) ?? [];
    if (text === undefined) throw this.#unknown();
    const one = new RegExp(`^(?:${text})$`, this.#regex.flags.replace(/[gym]/g, ''));
    const position = this.#position((character) => one.test(character));
    return { nullable: 'no', first: [position], last: new Map([[position, 'free']]), hasLoop: false };
  }

  #position(matches: Position['matches']): number {
    this.#follow.push([]);
    return this.#positions.push({ matches }) - 1;
  }

  #link(from: Iterable<number>, to: readonly number[]): void {
    for (const position of from) this.#follow[position]!.push(...to);
  }

  #take(character: string): boolean {
    if (this.#regex.source[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #match(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#regex.source);
    if (found) this.#at = sticky.lastIndex;
    return found ?? undefined;
  }

  #unknown(): Error {
    return new Error(
      `The analysis does not know ${JSON.stringify(this.#regex.source.slice(this.#at, this.#at + 10))} in ${String(this.#regex)}`,
    );
  }
}

const EMPTY: Part = { nullable: 'free', first: [], last: new Map(), hasLoop: false };

/** The next positions, by class of characters and position. */
type Steps = readonly (readonly (readonly number[])[])[];

/**
 * Returns whether one text of at least one character moves each position to the position with the same index in `to`.
 */
function reaches(steps: Steps, from: readonly number[], to: readonly number[]): boolean {
  return walk(steps, from, (reached) => reached.every((position, at) => position === to[at]));
}

/** Returns whether some text moves a position back to itself on two different paths. */
function isAmbiguous(steps: Steps, position: number): boolean {
  return walk(steps, [position, position], ([a, b]) => a !== b && reaches(steps, [a!, b!], [position, position]));
}

function walk(steps: Steps, from: readonly number[], isWanted: (reached: readonly number[]) => boolean): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let at = open.pop(); at; at = open.pop()) {
    for (const next of steps) {
      for (const reached of product(at.map((position) => next[position]!))) {
        const key = reached.join();
        if (seen.has(key)) continue;
        if (isWanted(reached)) return true;
        seen.add(key);
        open.push(reached);
      }
    }
  }
  return false;
}

function product(choices: readonly (readonly number[])[]): number[][] {
  return choices.reduce<number[][]>(
    (all, choice) => all.flatMap((some) => choice.map((each) => [...some, each])),
    [[]],
  );
}

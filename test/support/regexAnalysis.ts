import { times } from './times.ts';
/**
 * Finds regular expressions whose matching can take more than linear time. The analysis builds the Glushkov automaton of an
 * expression: a state machine with one state, called position, for each character of the expression. Matching is slow if
 * the match can fail after a loop, and one of these conditions is true:
 * - A text can be divided between two loops in many ways, as in `a*a*b`.
 * - A text can run through one loop on two paths, as in `(a|a)*b`.
 *
 * An expression without the flag `y` has one more loop: the search for the start of the match.
 */

/**
 * A state of the automaton, as the samples that it accepts. It stands for one character of the expression, or for the
 * search for the start of the match, in which every character is accepted.
 */
type Position = readonly boolean[];

/**
 * A part of an expression, with its first and its last positions. An assertion such as `$` guards the text before it.
 * Even if that text matches, the assertion can fail. `free` means that no assertion guards the part or the position.
 */
interface Part {
  /** Whether the part matches the empty text, and if so, whether an assertion guards it. */
  readonly nullable: Nullable;
  readonly first: readonly number[];
  readonly last: ReadonlyMap<number, 'guarded' | 'free'>;
  readonly hasLoop: boolean;
}

/** Up to this count, `x{3}` is expanded to `xxx`. A higher count is treated as a loop. */
const MAX_EXPANDED_COPIES = 16;
const ASSERTIONS = ['$', '\\b', '\\B'];
const SAMPLES = [
  ...times(0x300, (code) => String.fromCodePoint(code)),
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

type Nullable = 'no' | 'guarded' | 'free';

/**
 * Returns why matching an expression can take more than linear time. Returns undefined if it cannot. Throws for syntax
 * that the analysis does not support.
 */
export function findSlowness(regex: RegExp): string | undefined {
  return new Automaton(regex).findSlowness();
}

class Automaton {
  readonly #regex: RegExp;
  readonly #positions: Position[] = [];
  readonly #nextPositions: number[][] = [];
  readonly #accepting: ReadonlySet<number>;
  #offset = 0;
  #isSearch = false;
  readonly #hasLoop: boolean;

  constructor(regex: RegExp) {
    this.#regex = regex;
    const fromStart = this.#readExpression();
    const last = new Map(fromStart.last);
    this.#hasLoop = fromStart.hasLoop;
    if (!regex.sticky) {
      this.#isSearch = true;
      const search = this.#addPosition(SAMPLES.map(() => true));
      this.#link([search], [search]);
      const later = this.#readExpression();
      this.#link([search], later.first);
      for (const [position, guard] of later.last) last.set(position, guard);
    }
    this.#accepting = new Set([...last].flatMap(([position, guard]) => (guard === 'free' ? position : [])));
  }

  findSlowness(): string | undefined {
    if (!this.#hasLoop) return undefined;
    const hasNestedLoop = this.#nextPositions.some((next) => new Set(next).size < next.length);
    if (hasNestedLoop) return 'a loop is directly in another loop';
    const steps = this.#buildSteps();
    const loops = [...this.#positions.keys()].filter((position) => reaches(steps, [position], [position]));
    for (const loop of loops) {
      if (this.#accepting.has(loop)) continue;
      if (isAmbiguous(steps, loop)) return 'a loop can pass the same text in two ways';
      for (const earlier of loops) {
        if (
          earlier !== loop &&
          reaches(steps, [earlier], [loop]) &&
          reaches(steps, [earlier, earlier, loop], [earlier, loop, loop])
        )
          return 'two loops, or a loop and the search for the start, can share the same text';
      }
    }
    return undefined;
  }

  /**
   * Returns the transitions of the automaton. Two characters are in the same class if they match the same positions.
   */
  #buildSteps(): Steps {
    const classes = new Map<string, Steps[number]>();
    for (const index of SAMPLES.keys()) {
      const key = this.#positions.map((accepted) => Number(accepted[index])).join('');
      if (!classes.has(key))
        classes.set(
          key,
          this.#nextPositions.map((next) => next.filter((position) => this.#positions[position]![index])),
        );
    }
    return [...classes.values()];
  }

  #readExpression(): Part {
    this.#offset = 0;
    const part = this.#readAlternatives();
    if (this.#offset < this.#regex.source.length) throw this.#unsupportedSyntax();
    return part;
  }

  #readAlternatives(): Part {
    const parts = [this.#readSequence()];
    while (this.#takeCharacter('|')) parts.push(this.#readSequence());
    return {
      nullable: nullableOfAlternatives(parts),
      first: parts.flatMap(({ first }) => first),
      last: new Map(parts.flatMap(({ last }) => [...last])),
      hasLoop: parts.some(({ hasLoop }) => hasLoop),
    };
  }

  #readSequence(): Part {
    let part = EMPTY;
    while (this.#offset < this.#regex.source.length && !'|)'.includes(this.#regex.source[this.#offset]!))
      part = this.#join(part, this.#readTerm());
    return part;
  }

  #join(before: Part, after: Part): Part {
    this.#link(before.last.keys(), after.first);
    const lastBefore = [...before.last].map(
      ([position, guard]) => [position, after.nullable === 'guarded' ? 'guarded' : guard] as const,
    );
    return {
      nullable: nullableOfSequence(before, after),
      first: before.nullable === 'no' ? before.first : [...before.first, ...after.first],
      last: new Map([...(after.nullable === 'no' ? [] : lastBefore), ...after.last]),
      hasLoop: before.hasLoop || after.hasLoop,
    };
  }

  #readTerm(): Part {
    const atomStart = this.#offset;
    const atom = this.#readAtom();
    const quantifier = this.#takeMatch(/(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y);
    if (!quantifier) return atom;
    const { min, max } = parseQuantifier(quantifier);
    const termEnd = this.#offset;
    const readAtomAgain = () => {
      this.#offset = atomStart;
      return this.#readAtom();
    };
    let part: Part = EMPTY;
    const copies = Math.min(Math.max(min, max === Infinity ? 1 : max), MAX_EXPANDED_COPIES);
    for (let copy = 0; copy < copies; copy++) {
      const next = copy === 0 ? atom : readAtomAgain();
      const isLast = copy === copies - 1;
      const isLoop = isLast && max > MAX_EXPANDED_COPIES;
      if (isLoop) this.#link(next.last.keys(), next.first);
      const isOptional = copy >= min || (isLoop && min === 0);
      part = this.#join(part, {
        ...next,
        nullable: isOptional ? 'free' : next.nullable,
        hasLoop: next.hasLoop || isLoop,
      });
    }
    this.#offset = termEnd;
    return part;
  }

  #readAtom(): Part {
    const { source } = this.#regex;
    const assertion = ASSERTIONS.find((text) => source.startsWith(text, this.#offset));
    if (assertion) {
      this.#offset += assertion.length;
      return { ...EMPTY, nullable: 'guarded' };
    }
    if (this.#takeCharacter('^')) {
      const isImpossible = this.#isSearch && !this.#regex.multiline;
      return { ...EMPTY, nullable: isImpossible ? 'no' : 'guarded' };
    }
    const lookaround = this.#takeMatch(/\(\?<?[=!]/y);
    if (lookaround) {
      const positionsBefore = this.#positions.length;
      const { hasLoop } = this.#readGroup();
      this.#positions.length = positionsBefore;
      this.#nextPositions.length = positionsBefore;
      if (hasLoop) throw new Error(`${String(this.#regex)} has a loop in a lookaround`);
      return { ...EMPTY, nullable: 'guarded' };
    }
    if (this.#takeMatch(/\((?:\?:|\?<\w+>)?/y)) return this.#readGroup();
    return this.#readCharacter();
  }

  #readGroup(): Part {
    const part = this.#readAlternatives();
    if (!this.#takeCharacter(')')) throw this.#unsupportedSyntax();
    return part;
  }

  #readCharacter(): Part {
    const [text] =
      this.#takeMatch(
        /\[(?:\\.|[^\]\\])*\]|\\[pPu]\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[^1-9ck]|\.|[^\\()[\]{}*+?|^$]/y,
      ) ?? [];
    if (text === undefined) throw this.#unsupportedSyntax();
    const position = this.#addPosition(acceptedSamples(`^(?:${text})$`, this.#regex.flags.replace(/[gym]/g, '')));
    return { nullable: 'no', first: [position], last: new Map([[position, 'free']]), hasLoop: false };
  }

  #addPosition(accepted: Position): number {
    this.#nextPositions.push([]);
    return this.#positions.push(accepted) - 1;
  }

  #link(from: Iterable<number>, to: readonly number[]): void {
    for (const position of from) this.#nextPositions[position]!.push(...to);
  }

  #takeCharacter(character: string): boolean {
    if (this.#regex.source[this.#offset] !== character) return false;
    this.#offset++;
    return true;
  }

  #takeMatch(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#offset;
    const match = sticky.exec(this.#regex.source);
    if (match) this.#offset = sticky.lastIndex;
    return match ?? undefined;
  }

  #unsupportedSyntax(): Error {
    return new Error(
      `The analysis does not support ${JSON.stringify(this.#regex.source.slice(this.#offset, this.#offset + 10))} in ${String(this.#regex)}`,
    );
  }
}

/** By source and flags of the expression of one character. Most of them are in several expressions. */
const accepted = new Map<string, Position>();

function acceptedSamples(source: string, flags: string): Position {
  const key = `${source}/${flags}`;
  const known = accepted.get(key);
  if (known) return known;
  const regex = new RegExp(source, flags);
  const samples = SAMPLES.map((sample) => regex.test(sample));
  accepted.set(key, samples);
  return samples;
}

const EMPTY: Part = { nullable: 'free', first: [], last: new Map(), hasLoop: false };

function nullableOfAlternatives(parts: readonly Part[]): Nullable {
  if (parts.some(({ nullable }) => nullable === 'free')) return 'free';
  return parts.some(({ nullable }) => nullable === 'guarded') ? 'guarded' : 'no';
}

function nullableOfSequence(before: Part, after: Part): Nullable {
  if (before.nullable === 'no' || after.nullable === 'no') return 'no';
  return before.nullable === 'free' && after.nullable === 'free' ? 'free' : 'guarded';
}

/** Returns the minimum and the maximum number of repetitions of a quantifier. `max` can be Infinity. */
function parseQuantifier([text, count, comma, maxCount]: RegExpExecArray): { min: number; max: number } {
  if (text.startsWith('?')) return { min: 0, max: 1 };
  if (text.startsWith('*')) return { min: 0, max: Infinity };
  if (text.startsWith('+')) return { min: 1, max: Infinity };
  const min = Number(count);
  if (comma === '') return { min, max: min };
  return { min, max: maxCount === '' ? Infinity : Number(maxCount) };
}

/**
 * The transitions of the automaton. `steps[class][position]` has the positions that follow on a character of the
 * class.
 */
type Steps = readonly (readonly (readonly number[])[])[];

/**
 * Returns whether a single text moves every position `from[i]` to the position `to[i]`. The empty text does not count.
 */
function reaches(steps: Steps, from: readonly number[], to: readonly number[]): boolean {
  return canReach(steps, from, (reached) => reached.every((position, index) => position === to[index]));
}

/** Returns whether a text can move a position back to itself on two different paths. */
function isAmbiguous(steps: Steps, position: number): boolean {
  return canReach(steps, [position, position], ([a, b]) => a !== b && reaches(steps, [a!, b!], [position, position]));
}

/**
 * Returns whether a text moves the positions `from` to positions for which `isWanted` returns true. The empty text
 * does not count.
 */
function canReach(steps: Steps, from: readonly number[], isWanted: (reached: readonly number[]) => boolean): boolean {
  const seen = new Set<number>();
  const unvisited = [from];
  for (let positions = unvisited.pop(); positions; positions = unvisited.pop()) {
    for (const next of steps) {
      for (const reached of combineChoices(positions.map((position) => next[position]!))) {
        const key = reached.reduce((sum, position) => sum * next.length + position, 0);
        if (seen.has(key)) continue;
        if (isWanted(reached)) return true;
        seen.add(key);
        unvisited.push(reached);
      }
    }
  }
  return false;
}

/** Returns all lists that have one number of each choice (the Cartesian product). */
function combineChoices(choices: readonly (readonly number[])[]): number[][] {
  let combinations: number[][] = [[]];
  for (const choice of choices)
    combinations = combinations.flatMap((combination) => choice.map((number) => [...combination, number]));
  return combinations;
}

import { type Extension, Prec, StateEffect } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import * as Y from 'yjs';

/** Relative positions of Yjs in JSON, which stay at the words while the text changes. */
export interface Anchor {
  readonly start: string;
  readonly end: string;
}

export interface MarkedThread {
  readonly annotationId: string;
  readonly anchor: Anchor;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

const setThreads = StateEffect.define<readonly MarkedThread[]>();
const setShown = StateEffect.define<string>();

/** Marks commented words in the editor of a text of Yjs. */
export class CommentMarks {
  readonly extension: Extension;
  readonly #text: Y.Text;

  constructor(text: Y.Text) {
    this.#text = text;
    const rangeOf = (anchor: Anchor) => this.#rangeOf(anchor);
    const plugin = ViewPlugin.fromClass(
      class {
        marks: DecorationSet = Decoration.none;
        #threads: readonly MarkedThread[] = [];
        #shown = '';

        update({ docChanged, transactions, state }: ViewUpdate): void {
          for (const effect of transactions.flatMap(({ effects }) => effects)) {
            if (effect.is(setThreads)) this.#threads = effect.value;
            if (effect.is(setShown)) this.#shown = effect.value;
          }
          if (!docChanged && !transactions.some(({ effects }) => effects.length > 0)) return;
          const marks = this.#threads.flatMap(({ annotationId, anchor }) => {
            const range = rangeOf(anchor);
            if (!range || range.to > state.doc.length) return [];
            const isShown = annotationId === this.#shown;
            const mark = Decoration.mark({ class: isShown ? 'commented shown' : 'commented' });
            return [mark.range(range.from, range.to)];
          });
          this.marks = Decoration.set(marks, true);
        }
      },
      { decorations: ({ marks }) => marks },
    );
    // The plugin runs after the binding of Yjs, so the Yjs text has each change when positions are computed.
    this.extension = Prec.lowest(plugin);
  }

  anchorOf({ from, to }: Range): Anchor {
    const at = (index: number, assoc: number) =>
      JSON.stringify(Y.relativePositionToJSON(Y.createRelativePositionFromTypeIndex(this.#text, index, assoc)));
    return { start: at(from, 0), end: at(to, -1) };
  }

  show(view: EditorView, threads: readonly MarkedThread[]): void {
    view.dispatch({ effects: setThreads.of(threads) });
  }

  /** Moves the cursor to the words of a thread. Returns whether the text still has them. */
  reveal(view: EditorView, { annotationId, anchor }: MarkedThread): boolean {
    const range = this.#rangeOf(anchor);
    if (!range) return false;
    view.dispatch({
      selection: { anchor: range.to },
      effects: [setShown.of(annotationId), EditorView.scrollIntoView(range.from, { y: 'center' })],
    });
    view.focus();
    return true;
  }

  /** Undefined if the words were deleted, or if another client stored a wrong anchor. */
  #rangeOf({ start, end }: Anchor): Range | undefined {
    const indexOf = (position: string) => {
      const relative = Y.createRelativePositionFromJSON(JSON.parse(position));
      const { type, index } = Y.createAbsolutePositionFromRelativePosition(relative, this.#text.doc as Y.Doc) ?? {};
      return type === this.#text ? index : undefined;
    };
    try {
      const [from, to] = [indexOf(start), indexOf(end)];
      return from !== undefined && to !== undefined && from < to ? { from, to } : undefined;
    } catch {
      return undefined;
    }
  }
}

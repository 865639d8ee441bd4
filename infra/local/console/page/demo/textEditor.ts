import { defaultKeymap } from '@codemirror/commands';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { yCollab, yUndoManagerKeymap } from 'y-codemirror.next';
import * as Y from 'yjs';
import { EditorProvider } from '../../../../../lib/client/editorProvider.ts';
import type { UserClient } from '../../../../../lib/client/userClient.ts';
import { demoDocument, demoEditor, type DemoUser } from '../../demoDocument.ts';
import { byId } from '../dom.ts';
import { type Anchor, CommentMarks, type MarkedThread } from './commentMarks.ts';

export interface TextEditor {
  readonly provider: EditorProvider;
  /** Returns the selected text, or an empty one, and where it is. */
  selected(): { readonly text: string; readonly anchor: Anchor };
  mark(threads: readonly MarkedThread[]): void;
  reveal(thread: MarkedThread): boolean;
  /** Makes the text read-only and ends its synchronization. */
  stop(): void;
}

export function showTextEditor(client: UserClient, user: DemoUser, onSelection: () => void): TextEditor {
  const doc = new Y.Doc();
  const text = doc.getText(demoEditor.contentKey);
  const provider = new EditorProvider(doc, { client, ...demoDocument, editorId: demoEditor.editorId });
  provider.awareness.setLocalStateField('user', {
    name: user.name,
    color: user.colour,
    colorLight: `${user.colour}40`,
  });
  const marks = new CommentMarks(text);
  const editing = new Compartment();
  const readOnly = EditorView.editable.of(false);
  const view = new EditorView({
    parent: byId('editor'),
    state: EditorState.create({
      extensions: [
        // Tab moves the focus, so the whole page can be used with a keyboard.
        keymap.of([...yUndoManagerKeymap, ...defaultKeymap]),
        marks.extension,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'Text of the document' }),
        EditorView.updateListener.of(({ selectionSet }) => selectionSet && onSelection()),
        editing.of(readOnly),
      ],
    }),
  });
  // The text is empty until the first read, so the editor takes no keys before it.
  provider.whenSynced.then(
    () =>
      view.dispatch({
        changes: { from: 0, insert: text.toJSON() },
        effects: editing.reconfigure(yCollab(text, provider.awareness)),
      }),
    // The page shows this error: the event `rejected` or the status `denied` reports it.
    () => undefined,
  );
  return {
    provider,
    selected() {
      const { main } = view.state.selection;
      return { text: view.state.sliceDoc(main.from, main.to), anchor: marks.anchorOf(main) };
    },
    mark: (threads) => marks.show(view, threads),
    reveal: (thread) => marks.reveal(view, thread),
    stop() {
      view.dispatch({ effects: editing.reconfigure(readOnly) });
      void provider.destroy();
    },
  };
}

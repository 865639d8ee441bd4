import { defaultKeymap } from '@codemirror/commands';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { yCollab, yUndoManagerKeymap } from 'y-codemirror.next';
import * as Y from 'yjs';
import { EditorProvider } from '../../../../../lib/client/editorProvider.ts';
import type { UserClient } from '../../../../../lib/client/userClient.ts';
import { demoDocument, demoEditor, type DemoUser } from '../../demoDocument.ts';
import { byId } from '../dom.ts';

export interface TextEditor {
  readonly provider: EditorProvider;
  /** Returns the text that the user has selected. */
  selectedText(): string;
  /** Makes the text read-only, and stops synchronising it. */
  stop(): void;
}

/** Shows the editor of the demo document. Calls `onSelection` after each change of the selection. */
export function showTextEditor(client: UserClient, user: DemoUser, onSelection: () => void): TextEditor {
  const doc = new Y.Doc();
  const text = doc.getText(demoEditor.contentKey);
  const provider = new EditorProvider(doc, { client, ...demoDocument, editorId: demoEditor.editorId });
  provider.awareness.setLocalStateField('user', {
    name: user.name,
    color: user.colour,
    colorLight: `${user.colour}40`,
  });
  const editing = new Compartment();
  const readOnly = EditorView.editable.of(false);
  const view = new EditorView({
    parent: byId('editor'),
    state: EditorState.create({
      extensions: [
        // No extension handles Tab. It moves the focus, so the whole page can be used with a keyboard.
        keymap.of([...yUndoManagerKeymap, ...defaultKeymap]),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'Text of the document' }),
        EditorView.updateListener.of(({ selectionSet }) => selectionSet && onSelection()),
        editing.of(readOnly),
      ],
    }),
  });
  // The text is empty until the first read. Until then, the editor takes no keys and has no binding.
  provider.whenSynced.then(
    () =>
      view.dispatch({
        changes: { from: 0, insert: text.toJSON() },
        effects: editing.reconfigure(yCollab(text, provider.awareness)),
      }),
    // The page shows the error of the event `rejected`, or the status `denied`.
    () => undefined,
  );
  return {
    provider,
    selectedText() {
      const { from, to } = view.state.selection.main;
      return view.state.sliceDoc(from, to);
    },
    stop() {
      view.dispatch({ effects: editing.reconfigure(readOnly) });
      void provider.destroy();
    },
  };
}

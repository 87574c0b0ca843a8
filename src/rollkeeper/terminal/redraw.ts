import type { Clock } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import { ExpectedError, errorMessage } from '@rollkeeper/machinery/errors';
import { escapedText, terminalText, unstyledText } from '@rollkeeper/machinery/process';

/** A place in which something that changes is shown again and again. */
export interface View {
  /** Replaces what was shown before. */
  show(text: string): void;
}

interface Terminal {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;
const ESCAPE = '\u001b';

/** Writes over what it wrote before; what does not fit is cut off, so that it never scrolls. */
export class TerminalView implements View {
  private lines = 0;

  constructor(private readonly terminal: Terminal) {}

  show(text: string): void {
    const { columns = USUAL_COLUMNS, rows = USUAL_ROWS } = this.terminal;
    const lines = text.split('\n').map((line) => clipped(line, columns));
    const shown =
      lines.length < rows ? lines : [...lines.slice(0, rows - 2), `… ${lines.length - rows + 2} more`];
    const up = this.lines === 0 ? '' : `${ESCAPE}[${this.lines}A`;
    this.terminal.write(`${up}\r${ESCAPE}[J${terminalText(shown.join('\n'))}\n`);
    this.lines = shown.length;
  }
}

/** In a pipe: whole texts, one after the other, and none twice in a row. */
export class PipeView implements View {
  private last: string | undefined;

  constructor(private readonly write: (text: string) => unknown) {}

  show(text: string): void {
    if (text === this.last || text === '') return;
    this.last = text;
    this.write(`${terminalText(text)}\n`);
  }
}

export function viewFor(stream: Terminal & { readonly isTTY?: boolean }): View {
  return stream.isTTY === true ? new TerminalView(stream) : new PipeView((text) => stream.write(text));
}

/**
 * Shows what `read` answers, again after each pause, until stopped. A failure is shown in its place, and the next read may do
 * better; only the first one is passed on, since nothing could be read at all.
 */
export async function keepShowing(
  view: View,
  read: () => Promise<string>,
  {
    clock,
    everyMs,
    signal,
  }: { readonly clock: Clock; readonly everyMs: number; readonly signal: AbortSignal },
): Promise<void> {
  view.show(await read());
  while (await pause(clock, everyMs, signal)) view.show(await readOrExplain(read));
}

async function readOrExplain(read: () => Promise<string>): Promise<string> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return `${errorMessage(error)}; Rollkeeper tries again`;
  }
}

/** A line with sequences of a style is cut at what is seen of it. */
function clipped(line: string, columns: number): string {
  // As it is shown: an escape takes more columns than the character.
  const shown = escapedText(unstyledText(line));
  return shown.length <= columns ? line : `${shown.slice(0, columns - 1)}…`;
}

import type { OperatorNames } from './operator-names.js';

/** Parts of the template that are there only where they are asked for. */
export type TemplatePart = 'webhook' | 'vendor';

export interface TemplateFile {
  /** From the folder of the template, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** Files of a part that have nothing else in them. */
const FILES_OF: Readonly<Record<TemplatePart, RegExp>> = { webhook: /(^|\/)webhook\./, vendor: /^vendor\// };
const PARTS = ['webhook', 'vendor'] as const;
const WORDS =
  /website-operator|websites|website|Website|example\.com|(?<!\d)\d+\.\d+\.\d+(?=-trixie-slim)|(?<=node-version: ')[\d.]+/g;

interface RenderOptions {
  readonly names: OperatorNames;
  readonly parts: ReadonlySet<TemplatePart>;
  /** The version of Node, for image and workflow. */
  readonly nodeVersion: string;
}

/** A file of the new operator; undefined if it belongs to a part that is left out. */
export function renderFile(file: TemplateFile, options: RenderOptions): TemplateFile | undefined {
  const { names, nodeVersion, parts } = options;
  if (PARTS.some((part) => !parts.has(part) && FILES_OF[part].test(file.path))) return undefined;
  const text = PARTS.reduce((rest, part) => withPart(rest, part, parts.has(part)), file.text);
  const wordOf = (word: string): string => wordsOf(names)[word] ?? nodeVersion;
  return { path: renderPath(file.path, wordOf), text: text.replace(WORDS, wordOf) };
}

function wordsOf({ group, kind, name, plural, singular }: OperatorNames): Readonly<Record<string, string>> {
  return {
    'website-operator': name,
    websites: plural,
    website: singular,
    Website: kind,
    'example.com': group,
  };
}

/** npm leaves out files whose names begin with a dot: `_gitignore` is `.gitignore`. */
function renderPath(path: string, wordOf: (word: string) => string): string {
  return path
    .split('/')
    .map((part) => part.replace(/^_/, '.').replace(WORDS, wordOf))
    .join('/');
}

/** A part is enclosed by two lines: `// [webhook` and `// webhook]`. */
function withPart(text: string, part: TemplatePart, isIn: boolean): string {
  const block = new RegExp(`^[ \\t]*(?://|#) \\[${part}\\n([\\s\\S]*?)^[ \\t]*(?://|#) ${part}\\]\\n`, 'gm');
  return text.replace(block, (_block, inner: string) => (isIn ? inner : ''));
}

import { styledText } from '@rollkeeper/machinery/process';

/** How words are set off on a terminal. Text that is not for a terminal stays as it is. */
export interface Style {
  readonly good: (text: string) => string;
  readonly warning: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly strong: (text: string) => string;
}

const asItIs = (text: string): string => text;

export const PLAIN: Style = { good: asItIs, warning: asItIs, bad: asItIs, faint: asItIs, strong: asItIs };

const COLOURED: Style = {
  good: wrappedIn(32, 39),
  warning: wrappedIn(33, 39),
  bad: wrappedIn(31, 39),
  faint: wrappedIn(2, 22),
  strong: wrappedIn(1, 22),
};

/**
 * Colours where a person looks: on a terminal that has them (`TERM=dumb` has none), unless `NO_COLOR` is set to anything
 * (https://no-color.org). They never carry what the words do not say.
 */
export function styleFor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Style {
  const isUnwanted = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  return stream.isTTY === true && !isUnwanted ? COLOURED : PLAIN;
}

function wrappedIn(begin: number, end: number): (text: string) => string {
  return (text) => styledText(text, begin, end);
}

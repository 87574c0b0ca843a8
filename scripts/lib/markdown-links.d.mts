export interface MarkdownLink {
  readonly path: string;
  readonly anchor: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

export function linksIn(markdown: string): readonly MarkdownLink[];
export function slugOf(heading: string): string;
export function anchorsIn(markdown: string): ReadonlySet<string>;

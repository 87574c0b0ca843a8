import { tokensOf } from './tokens.js';

/** An expression without pairs of `!` and of `-`, which say nothing; all else stays where it is. */
export function withoutRepeatedSigns(text: string): string {
  if (!/(?:!\s*!|-\s*-)/.test(text)) return text;
  let shown = '';
  let end = 0;
  let before: string | undefined;
  const tokens = tokensOf(text, []);
  for (let index = 0; index < tokens.length; index++) {
    const [one, other] = [tokens[index]!, tokens[index + 1]];
    const isSign = one.kind === "'!'" || (one.kind === "'-'" && !endsOperand(before));
    if (isSign && one.kind === other?.kind) {
      shown += `${text.slice(end, one.start)} ${text.slice(one.end, other.start)} `;
      end = other.end;
      index++;
    } else before = one.kind;
  }
  return shown + text.slice(end);
}

/** Whether a `-` after a token of this kind is between two operands. */
function endsOperand(kind: string | undefined): boolean {
  return (
    kind !== undefined &&
    (/^[A-Z]/.test(kind) || ["')'", "']'", "'}'", "'true'", "'false'", "'null'"].includes(kind))
  );
}

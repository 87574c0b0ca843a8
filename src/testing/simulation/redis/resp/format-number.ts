/** A double as `printf` writes it with `%.<digits>g`. Source: the C standard, 7.21.6.1. */
export function formatGeneral(value: number, digits: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  if (Number.isSafeInteger(value) && Math.abs(value) < 10 ** digits) return String(value);
  const [mantissa = '', exponentText = '0'] = value.toExponential(digits - 1).split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < digits) return withoutZeros(value.toFixed(digits - 1 - exponent));
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `${withoutZeros(mantissa)}e${exponent < 0 ? '-' : '+'}${size}`;
}

function withoutZeros(text: string): string {
  if (!text.includes('.')) return text;
  let end = text.length;
  while (text[end - 1] === '0') end -= 1;
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end);
}

/** A score as Redis answers it: up to 7.0 with 17 digits, later with as few as tell it apart. */
export function formatDouble(value: number, isShortest: boolean): string {
  return isShortest ? formatShortest(value) : formatGeneral(value, 17);
}

function formatShortest(value: number): string {
  for (let digits = 1; digits < 17; digits++) {
    const text = formatGeneral(value, digits);
    if (Number(text) === value) return text.includes('e') ? formatGeneral(value, 17) : text;
  }
  return formatGeneral(value, 17);
}

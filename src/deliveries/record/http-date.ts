const days = 'Mon|Tue|Wed|Thu|Fri|Sat|Sun';
const longDays = 'Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday';
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const month = `(?<month>${months.join('|')})`;
const time = '(?<time>[0-2]\\d:[0-5]\\d:[0-5]\\d)';

/** RFC 9110, 5.6.7: the form to be sent, and the two older ones that are to be understood. */
const forms = [
  `(?:${days}), (?<day>\\d\\d) ${month} (?<year>\\d{4}) ${time} GMT`,
  `(?:${longDays}), (?<day>\\d\\d)-${month}-(?<year>\\d\\d) ${time} GMT`,
  `(?:${days}) ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`));

/** Milliseconds since 1970 of a date in HTTP; NaN of anything else, much of which Date.parse would take for a date. */
export function parseHttpDate(text: string, now: Date): number {
  const parts = forms.map((form) => form.exec(text)?.groups).find(Boolean);
  if (!parts) return Number.NaN;
  const year = fullYear(parts.year!, now);
  const monthOfYear = String(months.indexOf(parts.month!) + 1).padStart(2, '0');
  const dayOfMonth = parts.day!.replace(' ', '0');
  const date = new Date(`${year}-${monthOfYear}-${dayOfMonth}T${parts.time}Z`);
  return date.getUTCDate() === Number(dayOfMonth) ? date.getTime() : Number.NaN; // no 31st of February
}

/** Of two digits, as the RFC has it: what would be more than 50 years ahead is of the century before. */
function fullYear(digits: string, now: Date): string {
  if (digits.length === 4) return digits;
  const thisYear = now.getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(digits);
  return String(year > thisYear + 50 ? year - 100 : year);
}

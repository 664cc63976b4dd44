/** Reserved by ISO 3166 for other uses than a country's, although Unicode has names for them. */
const reserved = new Set(['AC', 'CP', 'CQ', 'DG', 'EA', 'EU', 'EZ', 'IC', 'TA', 'UN']);
/** Given to users by ISO 3166: AA, QM to QZ, XA to XZ, ZZ. Carriers agree on XK for Kosovo. */
const forUsers = /^(?:AA|Q[M-Z]|X[A-JL-Z]|ZZ)$/;

const regionNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
/** A withdrawn code, such as SU, is an alias of another. */
const isCurrent = (code: string) => Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`;

const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
/** ISO 3166-1, two letters. */
export const countries: ReadonlySet<string> = new Set(
  alphabet
    .flatMap((first) => alphabet.map((second) => first + second))
    .filter((code) => !reserved.has(code) && !forUsers.test(code))
    .filter((code) => regionNames.of(code) !== undefined && isCurrent(code)),
);
/** ISO 4217. */
export const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

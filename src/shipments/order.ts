import * as z from 'zod';
import {
  blankIsAbsent,
  described,
  evenIfFieldsAreWrong,
  limitedJson,
  notBlank,
  momentForm,
  momentProblem,
  momentMs,
} from '../http/request/fields.js';
import { oneOf } from '../platform/issues.js';

/** The codes are not those of Intl, which depend on Node's ICU and are not those of the standard. */
const codes = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/));

/** ISO 3166-1, two letters: those assigned; XK is not one of them. */
const countries = codes(`
  AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW
  BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI
  FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN
  IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME
  MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF
  PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV
  SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE
  YT ZA ZM ZW
`);
/** ISO 4217, list one of 2026-01-01: all active codes but XTS (for tests) and XXX (no currency). */
const currencies = codes(`
  AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF
  CHE CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP
  GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT
  LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR
  NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN
  SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAD
  XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XUA YER ZAR ZMW ZWG
`);

const maxLength = 1_000;
const tooLong = `must have at most ${maxLength} characters`;
/** A text beyond this is refused before anything is computed from it. Below, spaces at the ends do not count. */
const input = z.string().max(4 * maxLength, { error: tooLong, abort: true });
const text = input.trim().max(maxLength, tooLong).min(1, 'must not be empty').meta({ pattern: notBlank });
const optionalText = (description: string, example: string) =>
  blankIsAbsent(described(input.trim().max(maxLength, tooLong).nullable(), description, example));
const number = z.number({
  error: ({ input }) => (typeof input === 'number' ? 'must be a finite number' : undefined),
});
const amount = number.min(0, 'must be at least 0');
const size = number.gt(0, 'must be greater than 0');
const dateTime = new RegExp(`^${momentForm()}$`);
const firstInstantMs = Date.parse('0001-01-01T00:00:00Z');
const lastInstantMs = Date.parse('9999-12-31T23:59:59.999Z');

/** True for a time in the years 1 to 9999 in UTC. */
const isInstant = (value: unknown): boolean => {
  if (typeof value !== 'string' || value.length > maxLength || !dateTime.test(value)) return false;
  const ms = momentMs(value);
  return ms >= firstInstantMs && ms <= lastInstantMs;
};

const timeForm = 'must be a valid time in ISO 8601 with an offset, such as 2026-11-21T12:00:00Z';
const instant = z
  .string({ error: ({ input }) => (typeof input === 'number' ? timeForm : undefined) })
  .max(4 * maxLength, { error: tooLong, abort: true })
  .refine(isInstant, {
    error: ({ input }) => momentProblem(input, timeForm),
  })
  .meta({ format: 'date-time' });

/** `lenient` takes any text as a country, currency, unit or e-mail address, and a delivery before its drop-off. */
export const orderChecks = ['strict', 'lenient'] as const;
export type OrderChecks = (typeof orderChecks)[number];

const weightUnits = ['KG', 'G', 'LB', 'OZ'];
const dimensionsUnits = ['CM', 'MM', 'IN', 'M'];
const inUpperCase = (text: string) => (/^[a-z]+$/i.test(text) ? text.toUpperCase() : text);
/** Matches the codes in upper, lower and mixed case, for the document. */
const patternOf = (names: Iterable<string>) =>
  `^(?:${[...names].join('|').replace(/[A-Z]/g, (letter) => `[${letter}${letter.toLowerCase()}]`)})$`;
const code = (known: ReadonlySet<string>, problem: string) =>
  text
    .overwrite(inUpperCase)
    .refine((name) => known.has(name), problem)
    .meta({ pattern: patternOf(known) });
const unit = (names: string[]) =>
  text
    .overwrite(inUpperCase)
    .refine((name) => names.includes(name), { error: ({ input }) => oneOf(names, input) })
    .meta({ pattern: patternOf(names) });
/** Accepts any text, and converts a known code to upper case. */
const lenientCode = (known: Iterable<string>) => {
  const codes = new Set(known);
  return text.overwrite((given) => (codes.has(inUpperCase(given)) ? inUpperCase(given) : given));
};

const optionalEmail = (email: z.ZodString) =>
  blankIsAbsent(described(email.nullable(), 'E-mail address.', 'ana@example.com'));

const strictFields = {
  country: code(countries, 'must be a two-letter country code (ISO 3166), such as MX'),
  valueCurrency: code(currencies, 'must be a currency code (ISO 4217), such as MXN'),
  weightUnit: unit(weightUnits),
  dimensionsUnit: unit(dimensionsUnits),
  email: optionalEmail(
    input
      .trim()
      .max(maxLength, { error: tooLong, abort: true })
      .regex(/^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/, 'must be an e-mail address, such as ana@example.com')
      .meta({ format: 'email' }),
  ),
};
const lenientFields: typeof strictFields = {
  country: lenientCode(countries),
  valueCurrency: lenientCode(currencies),
  weightUnit: lenientCode(weightUnits),
  dimensionsUnit: lenientCode(dimensionsUnits),
  email: optionalEmail(text),
};

const listed = (names: string[]) => names.map((name) => `\`${name}\``).join(', ');

const phoneProblem = (given: unknown) => {
  const text = String(given);
  const extras = [
    text.includes('+') && 'the +',
    /\s/.test(text) && 'the spaces',
    /[-().]/.test(text) && 'the signs',
  ];
  const named = extras.filter(Boolean).join(' and ');
  return `must be 5 to 20 digits${named && `; leave out ${named}`}`;
};

/** The body of order integration (specification, "Order"), with more optional fields. */
export const orderSchemaOf = (checks: OrderChecks, itemsLimit: number) => {
  const checked = checks === 'strict' ? strictFields : lenientFields;
  return z
    .object({
      recipientLocation: described(
        z.object({
          street: described(text, 'Street.', 'Avenida Reforma'),
          number: described(text, 'House number.', '222'),
          administrativeArea: described(text, 'State or province.', 'Ciudad de México'),
          subAdministrativeArea: described(text, 'Municipality or county.', 'Cuauhtémoc'),
          country: described(
            checked.country,
            'Two-letter country code (ISO 3166). Codes may be in any case; they are stored in upper case.',
            'MX',
          ),
          neighborhood: described(text, 'Neighbourhood.', 'Juárez'),
          postalCode: described(text, 'Postal code.', '06600'),
          notes: optionalText('Free text for the courier.', 'Ring twice'),
          reference: optionalText('A landmark.', 'Green door'),
          intNumber: optionalText('Flat or office number.', '4B'),
          lat: described(z.number().min(-90).max(90).nullish(), 'Latitude in degrees.', 19.427),
          lng: described(z.number().min(-180).max(180).nullish(), 'Longitude in degrees.', -99.1677),
        }),
        'Where the parcel goes.',
      ),
      shipperTrackingId: described(
        text,
        'Your own identifier of the order; it need not be unique.',
        'ORDER-1001',
      ),
      shipperDropoffDate: described(instant, 'When you hand in the parcel.', '2030-01-15T10:00:00Z'),
      expectedDeliveryDate: described(
        instant,
        'When the parcel should arrive; not before the drop-off.',
        '2030-01-17T18:00:00Z',
      ),
      lotId: optionalText('The lot of the order.', 'LOT-7'),
      recipientInformation: described(
        z.object({
          fullName: described(text, 'Full name.', 'Ana Torres'),
          phone: described(
            input.trim().regex(/^\d{5,20}$/, { error: ({ input }) => phoneProblem(input) }),
            'Telephone number, digits only, without `+`.',
            '5512345678',
          ),
          email: checked.email,
        }),
        'The recipient of the parcel.',
      ),
      package: described(
        z.object({
          packageType: described(
            text,
            'Type of packaging, such as `UNIT`, `BOX`, `ENVELOPE` or `PALLET`: free text, stored as sent.',
            'UNIT',
          ),
          description: described(text, 'Contents.', 'Books'),
          contentValue: described(amount, 'Value of the contents.', 349),
          valueCurrency: described(
            checked.valueCurrency,
            'Currency of the value: an active code of ISO 4217.',
            'MXN',
          ),
          weight: described(size, 'Weight.', 1.2),
          weightUnit: described(checked.weightUnit, `Unit of the weight: ${listed(weightUnits)}.`, 'KG'),
          length: described(size, 'Length.', 30),
          width: described(size, 'Width.', 20),
          height: described(size, 'Height.', 10),
          dimensionsUnit: described(
            checked.dimensionsUnit,
            `Unit of length, width and height: ${listed(dimensionsUnits)}.`,
            'CM',
          ),
          items: limitedJson(
            z.unknown(),
            'The contents in detail: any JSON, returned as sent.',
            null,
            itemsLimit,
          ).optional(),
        }),
        'The parcel.',
      ),
    })
    .refine(
      ({ shipperDropoffDate: dropoff, expectedDeliveryDate: delivery }) =>
        checks === 'lenient' ||
        !(isInstant(delivery) && isInstant(dropoff)) || // reported already
        momentMs(delivery) >= momentMs(dropoff),
      {
        path: ['expectedDeliveryDate'],
        error: 'must not be before shipperDropoffDate',
        ...evenIfFieldsAreWrong,
      },
    )
    .meta({ id: 'Order', description: 'An order to deliver one parcel.' });
};

export const orderSchema = orderSchemaOf('strict', 16 * 1024);
export type Order = z.output<typeof orderSchema>;

/** What is given room is told how to give it back. */
type Begin = (done: () => void) => void;
export interface Room {
    /** Calls `begin` once there is room for this party, perhaps at once. What is returned withdraws what still waits. */
    ask(party: string, begin: Begin): () => void;
}
/** Room for `most` things at once, `mostOfOne` of them one party's. Parties that wait get it in turn. */
export declare function createRoom(most: number, mostOfOne: number): Room;
export {};

/** Types of AssemblyScript, for the tables of numbers that both languages read. */
declare type f32 = number;
declare type StaticArray<T> = readonly T[];
